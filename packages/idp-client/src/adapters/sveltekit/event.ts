import type { CookieAttributes } from '../../http/cookie-jar.ts'

/** The used part of `event.cookies`. */
export interface EventCookies {
  set(name: string, value: string, options: CookieAttributes & { encode(value: string): string }): void
}

/** Request type of this entry: the `event` of hooks, server load functions, form actions and `+server.ts`. */
export interface FrameworkRequest {
  readonly request: Request
  /** The URL of the page, also in a request for its data (`__data.json`). In a remote query of SvelteKit 3 reading it throws. */
  readonly url: URL
  readonly locals: object
  readonly cookies: EventCookies
  /** Whether the application sent this request to itself, with `event.fetch`. */
  readonly isSubRequest: boolean
  /** Whether SvelteKit's client requests the data of a page. */
  readonly isDataRequest?: boolean
  /** Whether SvelteKit's client calls a remote function; since SvelteKit 2.27. */
  readonly isRemoteRequest?: boolean
}

/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** The argument of a `handle` hook. */
export interface HandleInput<Event> {
  readonly event: Event
  readonly resolve: (event: Event) => FrameworkResponse | Promise<FrameworkResponse>
}

/** Returns path and query of the page, as far as SvelteKit tells. */
export function toPath(event: FrameworkRequest, requested: URL): string | undefined {
  try {
    const { url } = event
    return url.pathname + url.search
  } catch {
    const isOfClient = event.isDataRequest || event.isRemoteRequest
    return isOfClient ? undefined : requested.pathname + requested.search
  }
}
