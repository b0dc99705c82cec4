import type { Code } from '../errors/codes.ts'
import { browserError } from './request-error.ts'
import { withQuery } from './with-query.ts'

/** The members of a JSON value that are to be looked at; none where it is no object. */
export function toProperties<Name extends string>(value: unknown): { readonly [key in Name]?: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [key in Name]?: unknown }) : {}
}

/** The address with a query; what is undefined or empty is left out. */
export function addressWith(url: string, query: { readonly [name: string]: string | undefined }): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return given.length > 0 ? withQuery(url, given) : url
}

/** A server would ask without the cookies of anybody. */
export function browserOnly(): void {
  if (typeof window === 'undefined')
    throw browserError('INTERNAL_ERROR', 'For browsers only: a server has idp.getAccessToken().')
}

export interface Route<Body> {
  /** As it is called in messages. */
  readonly route: string
  /** Name of the errors that it reports itself. */
  readonly name: string
  readonly isAnswer: (body: unknown) => body is Body
}

/**
 * Requests an auth route and returns its JSON; rejects with a `RouteRequestError`. By default `fetch` sends cookies to
 * the own origin only.
 */
export async function askRoute<Body>(
  { route, name, isAnswer }: Route<Body>,
  url: string,
  init?: RequestInit,
): Promise<Body> {
  browserOnly()
  let response: Response
  try {
    response = await fetch(url, { headers: { accept: 'application/json' }, ...init })
  } catch (cause) {
    throw browserError('REQUEST_FAILED', `The ${route} route cannot be reached.`, { cause })
  }
  const { ok, status } = response
  const body: unknown = await response.json().catch(() => undefined)
  if (ok && isAnswer(body)) return body
  const flat = toProperties<'code' | 'error' | 'error_description'>(body)
  const { code = flat.code, message = flat.error_description } = toProperties<'code' | 'message'>(flat.error)
  if (typeof code === 'string' && typeof message === 'string')
    throw browserError(code as Code, message, {
      ...(typeof flat.error === 'string' ? flat : {}),
      ...(code === 'MFA_REQUIRED' ? { name: 'MfaRequiredError', toJSON: () => flat } : { name }),
      status,
    })
  const advice = 'is it enabled, in the proxy, and known to <IdpProvider> or configure()?'
  throw browserError('INTERNAL_ERROR', `Status ${status} is no answer of the ${route} route: ${advice}`, {
    status,
  })
}
