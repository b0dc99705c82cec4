import { DevProviderError } from '../error.ts'
import type { Browser, ConnectOptions, VisitResult } from './browse.ts'
import type { CookieJar } from './cookie-jar.ts'
import type { Form } from './forms.ts'

export interface LoginOptions extends ConnectOptions {
  /** User name; default `alice`. */
  readonly user?: string
  /** Presses "Deny" instead. */
  readonly deny?: boolean
  /** Creates the user on the sign-up page. */
  readonly signUp?: boolean
  /** The code of the second step, or `true` for the right one; see `visit`. */
  readonly otp?: true | string
  /** Cookies of earlier visits, for single sign-on; default a fresh jar. */
  readonly jar?: CookieJar
}

/** The way back to the application: a URL to open, or a form to post there. */
export type LoginResult =
  | { readonly location: string; readonly form?: undefined }
  | { readonly form: Form; readonly location?: undefined }

function submission({ user = 'alice', deny, signUp }: LoginOptions): Record<string, string> {
  if (deny) return { deny: 'yes' }
  return signUp ? { user, create: 'yes' } : { user }
}

function describe(result: Extract<VisitResult, { kind: 'page' }>): string {
  const title = /<title>([^<]*)<\/title>/.exec(result.html)?.[1] ?? 'no title'
  const code = /id="error">([^<]*)</.exec(result.html)?.[1]
  return `status ${result.status}, "${title}"${code === undefined ? '' : `, error ${code}`}`
}

/** Performs the steps of a user between the redirect to the provider and the redirect back. */
export async function logIn(browser: Browser, url: string, options: LoginOptions): Promise<LoginResult> {
  const { jar, connect = 'accept', account, otp } = options
  const result = await browser.visit(url, {
    submit: submission(options),
    connect,
    ...(account === undefined ? {} : { account }),
    ...(otp === undefined ? {} : { otp }),
    ...(jar ? { jar } : {}),
  })
  if (result.kind === 'redirect') return { location: result.location }
  if (result.kind === 'form') return { form: result.form }
  throw new DevProviderError(`The login ended on a page of the provider: ${describe(result)}.`)
}
