/** Request type of this entry: the context of middleware, endpoints and actions, and `Astro` in pages. */
export interface FrameworkRequest {
  readonly request: Request
  readonly url: URL
  readonly locals: object
  /** Since Astro 5. */
  readonly isPrerendered?: boolean
  /** Since Astro 5. */
  readonly routePattern?: string
  /** The route cache; since Astro 7. */
  readonly cache?: { readonly enabled: boolean; set(options: false): void }
}

/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response
