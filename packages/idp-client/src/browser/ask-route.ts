import type { Code } from '../errors/code.ts'
import { announcedPage } from './page-state.ts'
import { browserError } from './request-error.ts'
import type { RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'
import { withQuery } from './with-query.ts'

/** Returns a JSON value with properties of unknown type; for anything but an object it has none. */
export function toProperties<Name extends string>(value: unknown): { readonly [key in Name]?: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [key in Name]?: unknown }) : {}
}

/** Adds a query to a URL, without undefined and empty values. */
export function addressWith(url: string, query: { readonly [name: string]: string | undefined }): string {
  const parameters = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return parameters.length > 0 ? withQuery(url, parameters) : url
}

/** Returns the URLs of the routes of this page. */
export const currentUrls = (): RouteUrls => announcedPage?.urls ?? resolveRoutes({})

/** Throws on a server, where a request would have no cookies of the user. */
export function browserOnly(): void {
  if (typeof window === 'undefined')
    throw browserError('INTERNAL_ERROR', 'For browsers only: a server has idp.getAccessToken().')
}

export interface Route<Body> {
  /** Name of the route in messages. */
  readonly route: string
  /** Name of the errors that the route reports. */
  readonly name: string
  readonly isValid: (body: unknown) => body is Body
}

/**
 * Requests an auth route and returns the validated body; rejects with a `RouteRequestError`. By default `fetch` sends
 * cookies to the same origin only.
 */
export async function requestRoute<Body>(
  { route, name, isValid }: Route<Body>,
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
  if (ok && isValid(body)) return body
  const flat = toProperties<'code' | 'error' | 'error_description'>(body)
  const { code = flat.code, message = flat.error_description } = toProperties<'code' | 'message'>(flat.error)
  if (typeof code === 'string' && typeof message === 'string')
    throw browserError(code as Code, message, {
      ...(typeof flat.error === 'string' ? flat : {}),
      ...(code === 'MFA_REQUIRED' ? { name: 'MfaRequiredError', toJSON: () => flat } : { name }),
      status,
    })
  const advice = 'is it enabled, in the proxy, and known to <IdpProvider> or configure()?'
  throw browserError('INTERNAL_ERROR', `Invalid response (${status}) of the ${route} route: ${advice}`, {
    status,
  })
}
