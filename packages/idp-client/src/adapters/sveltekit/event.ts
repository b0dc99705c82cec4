import type { CookieAttributes } from '../../http/cookie-jar.ts'

/** The used part of `event.cookies`. */
export interface EventCookies {
  set(name: string, value: string, options: CookieAttributes & { encode(value: string): string }): void
}

/** Request type of this entry: the `event` of hooks, server load functions, form actions and `+server.ts`. */
export interface FrameworkRequest {
  readonly request: Request
  /** The URL of the page, also in a request for its data (`__data.json`). */
  readonly url: URL
  readonly locals: object
  readonly cookies: EventCookies
  /** Whether the application sent this request to itself, with `event.fetch`. */
  readonly isSubRequest: boolean
  /** Whether SvelteKit's client requests the data of a page. */
  readonly isDataRequest?: boolean
}

/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** The argument of a `handle` hook. */
export interface HandleInput<Event> {
  readonly event: Event
  readonly resolve: (event: Event) => FrameworkResponse | Promise<FrameworkResponse>
}
