import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { DevProviderError } from '../error.ts'
import { CONNECT_PATH, INTERACTION_PATH } from '../wire/endpoints.ts'
import type { CookieJar } from './cookie-jar.ts'
import { createCookieJar } from './cookie-jar.ts'
import type { Form } from './forms.ts'
import { findText, firstForm } from './forms.ts'

/** Where a visit to the provider ends. */
export type VisitResult =
  /** Redirected away from the provider: the URL, byte for byte as it was sent. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A form that a browser would post elsewhere (`response_mode=form_post`). */
  | { readonly kind: 'form'; readonly form: Form }
  /** A page of the provider that waits for input, or an error page. */
  | { readonly kind: 'page'; readonly url: string; readonly status: number; readonly html: string }

/** Actions on the page on which an account is connected. */
export interface ConnectOptions {
  /** Connects the account, or cancels. */
  readonly connect?: 'accept' | 'cancel'
  /** Name of the account; default the one that the page suggests. */
  readonly account?: string
}

export interface VisitOptions extends ConnectOptions {
  /** Cookies of earlier visits, for single sign-on; default a fresh jar. */
  readonly jar?: CookieJar
  /** Fields to submit on the login page; default: stop there. */
  readonly submit?: Readonly<Record<string, string>>
  /**
   * Code to enter on the page for the second step; `true` for the right one, enrolling an authenticator app if the page
   * asks for it. Default: stop there.
   */
  readonly otp?: true | string
}

/** The code that an authenticator app shows: that of a user, or that of a secret which the page shows. */
export type ShowCode = (account: string, secret: string | undefined) => string

interface Page {
  readonly url: string
  readonly status: number
  readonly location: string | undefined
  readonly html: string
}

export interface Browser {
  visit(url: string, options?: VisitOptions): Promise<VisitResult>
}

interface Profile {
  readonly origin: string
  readonly showCode: ShowCode
  readonly ca: string | undefined
  readonly jar: CookieJar
}

const MAX_HOPS = 20

/** One request without following anything; a form makes it a POST. */
function load(profile: Profile, url: string, form?: Readonly<Record<string, string>>): Promise<Page> {
  const { origin, ca, jar } = profile
  const cookie = jar.header(url)
  const body = form && new URLSearchParams(form).toString()
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
      headers: {
        accept: 'text/html',
        ...(cookie ? { cookie } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin }),
      },
      ...(ca === undefined ? {} : { ca }),
    })
    request.once('error', reject)
    request.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      jar.store(url, headers['set-cookie'] ?? [])
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({ url, status, location: headers.location, html: Buffer.concat(chunks).toString('utf8') }),
      )
    })
    request.end(body)
  })
}

function resolveCode({ showCode }: Profile, html: string, otp: true | string): string {
  return otp === true ? showCode(findText(html, 'account') ?? '', findText(html, 'secret')) : otp
}

/** Returns the fields that the options submit on a page; `undefined`: none. */
function submission(
  profile: Profile,
  page: Page,
  form: Form,
  { submit, otp, connect, account }: VisitOptions,
): Readonly<Record<string, string>> | undefined {
  const path = new URL(page.url).pathname
  if (path.includes(`${INTERACTION_PATH}/`)) {
    if (!('otp' in form.fields) || submit?.['deny'] !== undefined) return submit
    return otp === undefined ? undefined : { otp: resolveCode(profile, page.html, otp) }
  }
  if (path !== CONNECT_PATH || connect === undefined) return undefined
  if (connect === 'cancel') return { cancel: 'yes' }
  return account === undefined ? form.fields : { ...form.fields, account }
}

/** Returns what follows a page: the next page of the provider, or the end of the visit. */
async function follow(profile: Profile, page: Page, options: VisitOptions): Promise<Page | VisitResult> {
  if (page.status >= 300 && page.status < 400 && page.location !== undefined) {
    const target = new URL(page.location, page.url)
    if (target.origin !== profile.origin) return { kind: 'redirect', location: page.location }
    return load(profile, target.href)
  }
  const form = firstForm(page.html, page.url)
  if (form && new URL(form.action).origin !== profile.origin) return { kind: 'form', form }
  const fields = form && page.status === 200 ? submission(profile, page, form, options) : undefined
  if (form && fields) return load(profile, form.action, fields)
  return { kind: 'page', url: page.url, status: page.status, html: page.html }
}

/** A browser for one provider: follows its redirects, keeps its cookies, sends its forms. */
export function createBrowser(origin: string, ca: string | undefined, showCode: ShowCode): Browser {
  return {
    visit: async (url, options = {}) => {
      const profile = { origin, ca, showCode, jar: options.jar ?? createCookieJar() }
      let page = await load(profile, url)
      for (let hop = 0; hop < MAX_HOPS; hop += 1) {
        const next = await follow(profile, page, options)
        if ('kind' in next) return next
        page = next
      }
      throw new DevProviderError('The provider redirects in a circle.')
    },
  }
}
