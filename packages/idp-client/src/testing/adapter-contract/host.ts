import type { BeforeSessionSavedHook, OnCallbackHook } from '../../config/hooks.ts'
import type { PublicJwk } from '../../config/options.ts'
import { filterDefaultIdTokenClaims } from '../../session/model/claims.ts'
import type { ContractUpstream, ProxyLimits } from './upstream.ts'

/** How an operation is called: without request (`ambient`), or with the host's request and response. */
export type CallingStyle = 'ambient' | 'explicit'

/** Behaviour of a user at the provider. */
export interface ContractUser {
  readonly user: 'alice' | 'bob'
  /** Denies the login. */
  readonly deny?: boolean
}

/** The provider's redirect to the application: a URL to open, or a form that the browser posts. */
export type WayBack =
  | { readonly location: string; readonly form?: undefined }
  | {
      readonly form: { readonly action: string; readonly fields: Readonly<Record<string, string>> }
      readonly location?: undefined
    }

/**
 * An application on the host under test: a running server that gets real requests. Its `IdpClient` has the hooks of
 * `contractHooks`, parallel transactions and otherwise the defaults, and it serves these paths below `url`. `style` in
 * the query selects how the operation is called. For an error of the library it responds with any status from 400 on
 * and the JSON `{ code }`; on `/page` the error handler of the framework may respond, on `/unhandled` it does.
 *
 * | Path | Response |
 * |---|---|
 * | `/public` | 200, the text `public`, `Cache-Control: public, max-age=60` |
 * | `/page` | behind `withPageAuthRequired`: 200, a text that contains `user=<sub>` |
 * | `/api` | behind `withApiAuthRequired`: 200, the JSON `{ sub }` |
 * | `/resource` | behind the guard of an API that accepts only access tokens of users for `https://api.example.test/` (`authorize` requires `isClient` to be false): 200, the JSON `{ kind, sub }` of `auth` |
 * | `/shared`, GET and POST | the same, but the guard also accepts sessions |
 * | `/whoami?style` | `getSession` as the JSON `{ sub, value, hooked, createdAt }`, each null if absent |
 * | `/unhandled?style` | `getSession` as JSON; the framework's own error handler responds to errors |
 * | `/update?style&value` | `updateSession` with `value` added; the JSON `{ ok: true }` |
 * | `/app-cookie?style&value` | the same, with the application's own cookies `app_before=1` and `app_after=1` set before and after it |
 * | `/token?style` | `getAccessToken` as JSON |
 * | `/start?style&returnTo&response_mode` | `startInteractiveLogin` with the values of the query |
 * | `/late?style&value` | the text `late`; only for `lateWriteContract`: starts an `updateSession` as `/update`, which waits for the next path |
 * | `/late-result?value` | lets the update with that value continue, and responds with its error as the JSON `{ code }` |
 * | `/connect?style&returnTo` | `connectAccount` for the connection `github`, which the provider must have |
 * | `/proxied` and below | only for `proxyContract`: `idp.proxy({ prefix: '/proxied', target })`, with the URL of `upstream` as the target |
 */
export interface ContractHost {
  /** Base URL as browsers see it, including the base path, without trailing slash. */
  readonly url: string
  /**
   * Address to send requests to if `url` is the address of a proxy; requests then carry `X-Forwarded-Host` and
   * `X-Forwarded-Proto`. Default: `url`.
   */
  readonly listensAt?: string
  /** Secret of the application. */
  readonly secret: string
  /** Calling styles that the host supports. */
  readonly styles: readonly CallingStyle[]
  /** Acts as the user at the given authorization URL, in a separate browser. */
  signIn(authorizationUrl: string, user: ContractUser): Promise<WayBack>
  /**
   * Returns an access token that the provider signs, with these claims and members of its header. Those of a valid one are added
   * (`iss`, `exp`, `client_id`, `typ` …); `undefined` leaves one out.
   */
  accessToken(
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>
  /** Returns the keys that the provider publishes, as JWKs. */
  publicKeys(): readonly Readonly<Record<string, unknown>>[]
  /**
   * Whether the application infers its base URL from requests, in production or of another host than this machine, so that no DPoP
   * proof can be accepted. Default: false.
   */
  readonly infersBaseUrl?: boolean
  /**
   * Returns all that the application has logged, which must not contain a token; without an access log, because senders choose
   * URLs. Default: this is not tested.
   */
  log?(): string
  /** The API behind the proxy; only for `proxyContract`. */
  readonly upstream?: ContractUpstream
  /**
   * Sends bytes, one for each character, to an address by TCP, and returns all that arrives until the server closes the connection;
   * only for `proxyContract`, whose attacks `fetch` would not send.
   */
  sendBytes?(address: URL, bytes: string): Promise<string>
  /** Path of the proxy; only for `proxyContract`. Default: `/proxied`. */
  readonly proxyPath?: string
  /** Features that the server of the host lacks for the proxy; only for `proxyContract`. Default: nothing. */
  readonly proxyLimits?: ProxyLimits
}

/** One rule of the contract. Runs independently, in any order, and concurrently with others on one host. */
export interface ContractCase {
  readonly title: string
  /** Rejects with an error that describes the expectation. */
  readonly run: (host: ContractHost) => Promise<void>
}

/** Rules of the contract by their titles. */
export type ContractRuns = Readonly<Record<string, ContractCase['run']>>

const hookResults: Readonly<Record<string, () => ReturnType<OnCallbackHook>>> = {
  '/hook/elsewhere': () => ({ returnTo: '/public?from=hook' }),
  '/hook/away': () => ({ returnTo: 'https://evil.example/' }),
  '/hook/response': () =>
    new Response('response of the hook', { status: 202, headers: { 'Set-Cookie': 'hook=1' } }),
  '/hook/deny': () => new Response('denied by the hook', { status: 403 }),
  '/hook/throw': () => {
    throw new Error('thrown by the hook')
  },
}

/**
 * Hooks of the application under test, whose behaviour depends on the `returnTo` of the login, and the public key that it
 * publishes.
 */
export const contractHooks: {
  readonly onCallback: OnCallbackHook
  readonly beforeSessionSaved: BeforeSessionSavedHook
  readonly enableJwksEndpoint: true
  readonly additionalPublicKeys: readonly [PublicJwk]
} = {
  enableJwksEndpoint: true,
  // The key of RFC 8037, appendix A.2.
  additionalPublicKeys: [
    { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'contract' },
  ],
  onCallback: ({ error, returnTo = '' }) => {
    if (error) {
      return returnTo.endsWith('/hook/error') ? { returnTo: `/public?error=${error.code}` } : undefined
    }
    const path = Object.keys(hookResults).find((candidate) => returnTo.endsWith(candidate))
    return path === undefined ? undefined : hookResults[path]?.()
  },
  beforeSessionSaved: (session) => ({
    ...session,
    user: filterDefaultIdTokenClaims(session.user),
    hooked: 'before-session-saved',
  }),
}
