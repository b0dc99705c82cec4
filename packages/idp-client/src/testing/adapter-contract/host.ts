import type { BeforeSessionSavedHook, OnCallbackHook } from '../../config/hooks.ts'
import { filterDefaultIdTokenClaims } from '../../session/model/claims.ts'

/** How an operation is called: without request (`ambient`), or with the host's request and response. */
export type CallingStyle = 'ambient' | 'explicit'

/** The user's actions at the provider. */
export interface Person {
  readonly user: 'alice' | 'bob'
  /** Refuses instead of signing in. */
  readonly deny?: boolean
}

/** The provider's way back to the application: a URL to open, or a form that the browser posts there. */
export type WayBack =
  | { readonly location: string; readonly form?: undefined }
  | {
      readonly form: { readonly action: string; readonly fields: Readonly<Record<string, string>> }
      readonly location?: undefined
    }

/**
 * An application on the host under test: a running server, reached by real requests. Its `IdpClient` has the hooks of
 * `contractHooks`, parallel transactions and otherwise the defaults, and it serves these paths below `url`. Where
 * `style` is in the query, the operation is called in that style. An error of the library is answered with any status
 * from 400 on and the JSON `{ code }`.
 *
 * | Path | Answer |
 * |---|---|
 * | `/public` | 200, the text `public`, `Cache-Control: public, max-age=60` |
 * | `/page` | behind `withPageAuthRequired`: 200, a text with `user=<sub>` in it |
 * | `/api` | behind `withApiAuthRequired`: 200, the JSON `{ sub }` |
 * | `/whoami?style` | `getSession` as the JSON `{ sub, value, hooked, createdAt }`, each null where there is none |
 * | `/update?style&value` | `updateSession` with `value` added; the JSON `{ ok: true }` |
 * | `/app-cookie?style&value` | the same, with the application's own cookies `app_before=1` and `app_after=1` set before and after it |
 * | `/token?style` | `getAccessToken` as JSON |
 * | `/start?style&returnTo&response_mode` | `startInteractiveLogin` with what the query gives |
 * | `/connect?style&returnTo` | `connectAccount` for the connection `github`, which the provider has to know |
 */
export interface ContractHost {
  /** Base URL as browsers see it, base path included, without trailing slash. */
  readonly url: string
  /**
   * Replaces `url` in requests if that is the address of a proxy; they then carry `X-Forwarded-Host`
   * and `X-Forwarded-Proto`. Default: `url`.
   */
  readonly listensAt?: string
  /** Secret of the application. */
  readonly secret: string
  /** Calling styles that the host offers. */
  readonly styles: readonly CallingStyle[]
  /** Does at the given authorization URL what a person would do, in a browser of the person's own. */
  signIn(authorizationUrl: string, person: Person): Promise<WayBack>
}

/** One rule that every host keeps. Runs on its own, in any order, also several at once on one host. */
export interface ContractCase {
  readonly title: string
  /** Rejects with an error that names what was expected. */
  run(host: ContractHost): Promise<void>
}

const hookAnswers: Readonly<Record<string, () => ReturnType<OnCallbackHook>>> = {
  '/hook/elsewhere': () => ({ returnTo: '/public?from=hook' }),
  '/hook/away': () => ({ returnTo: 'https://evil.example/' }),
  '/hook/response': () =>
    new Response('answer of the hook', { status: 202, headers: { 'Set-Cookie': 'hook=1' } }),
  '/hook/deny': () => new Response('denied by the hook', { status: 403 }),
  '/hook/throw': () => {
    throw new Error('thrown by the hook')
  },
}

/** Hooks of the application under test; what they do depends on where the login wants to go. */
export const contractHooks: {
  readonly onCallback: OnCallbackHook
  readonly beforeSessionSaved: BeforeSessionSavedHook
} = {
  onCallback: ({ error, returnTo = '' }) => {
    if (error) {
      return returnTo.endsWith('/hook/error') ? { returnTo: `/public?error=${error.code}` } : undefined
    }
    const path = Object.keys(hookAnswers).find((candidate) => returnTo.endsWith(candidate))
    return path === undefined ? undefined : hookAnswers[path]?.()
  },
  beforeSessionSaved: (session) => ({
    ...session,
    user: filterDefaultIdTokenClaims(session.user),
    hooked: 'before-session-saved',
  }),
}
