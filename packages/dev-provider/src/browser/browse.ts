import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { DevProviderError } from '../error.ts'
import { INTERACTION_PATH } from '../wire/endpoints.ts'
import type { CookieJar } from './cookie-jar.ts'
import { createCookieJar } from './cookie-jar.ts'
import type { Form } from './forms.ts'
import { firstForm } from './forms.ts'

/** Where a visit to the provider ends. */
export type VisitResult =
  /** Redirected away from the provider: the URL, byte for byte as it was sent. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A form that a browser would post elsewhere (`response_mode=form_post`). */
  | { readonly kind: 'form'; readonly form: Form }
  /** A page of the provider that waits for a person, or an error page. */
  | { readonly kind: 'page'; readonly url: string; readonly status: number; readonly html: string }

export interface VisitOptions {
  /** Cookies of earlier visits, for single sign-on; default a fresh jar. */
  readonly jar?: CookieJar
  /** What to do on the login page; default: stop there. */
  readonly submit?: Readonly<Record<string, string>>
}

interface Page {
  readonly url: string
  readonly status: number
  readonly location: string | undefined
  readonly html: string
}

export interface Browser {
  visit(url: string, options?: VisitOptions): Promise<VisitResult>
}

const MAX_HOPS = 20

/** A browser for one provider: follows its redirects, keeps its cookies, sends its forms. */
export function createBrowser(origin: string, ca: string | undefined): Browser {
  const get = (url: string, jar: CookieJar, form?: Readonly<Record<string, string>>): Promise<Page> =>
    new Promise((resolve, reject) => {
      const cookie = jar.header(url)
      const body = form && new URLSearchParams(form).toString()
      const send = url.startsWith('https:') ? httpsRequest : httpRequest
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
        jar.store(url, response.headers['set-cookie'] ?? [])
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () =>
          resolve({
            url,
            status: response.statusCode ?? 0,
            location: response.headers.location,
            html: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      })
      request.end(body)
    })

  const follow = async (
    page: Page,
    jar: CookieJar,
    submit: VisitOptions['submit'],
  ): Promise<Page | VisitResult> => {
    if (page.status >= 300 && page.status < 400 && page.location !== undefined) {
      const target = new URL(page.location, page.url)
      if (target.origin !== origin) return { kind: 'redirect', location: page.location }
      return get(target.href, jar)
    }
    const form = firstForm(page.html, page.url)
    if (form && new URL(form.action).origin !== origin) return { kind: 'form', form }
    const asksPerson = page.status === 200 && new URL(page.url).pathname.includes(`${INTERACTION_PATH}/`)
    if (form && asksPerson && submit) return get(form.action, jar, submit)
    return { kind: 'page', url: page.url, status: page.status, html: page.html }
  }

  return {
    visit: async (url, { jar = createCookieJar(), submit } = {}) => {
      let page = await get(url, jar)
      for (let hop = 0; hop < MAX_HOPS; hop += 1) {
        const next = await follow(page, jar, submit)
        if ('kind' in next) return next
        page = next
      }
      throw new DevProviderError('The provider redirects in a circle.')
    },
  }
}
