/** What an auth route has answered; `body` is undefined where it is no JSON. */
export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** Asks an auth route. By default `fetch` sends cookies to the own origin only. Rejects when nothing answers. */
export async function askRoute(url: string): Promise<Answer> {
  const response = await fetch(url, { headers: { accept: 'application/json' } })
  return { status: response.status, body: await response.json().catch(() => undefined) }
}

/** The members of a JSON value that are to be looked at; none where it is no object. */
export function membersOf<Name extends string>(value: unknown): { readonly [key in Name]?: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [key in Name]?: unknown }) : {}
}

export const withQuery = (url: string, query: string): string =>
  `${url}${url.includes('?') ? '&' : '?'}${query}`

export const unreachable = (route: string): string => `The ${route} route cannot be reached.`

export const misrouted = (route: string): string =>
  `This is no answer of the ${route} route. Is it enabled, matched by the proxy, and known to <IdpProvider>?`
