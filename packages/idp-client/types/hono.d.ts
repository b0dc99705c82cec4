/** The types of Hono that the adapter uses. Hono is not installed here; applications get Hono's own types. */
declare module 'hono' {
  export interface HonoRequest {
    readonly raw: Request
    readonly bodyCache: object
    readonly routeIndex: number
    /** Deprecated, and removed in Hono 5; `basePath` since 4.8. */
    readonly matchedRoutes?: readonly { readonly basePath?: string }[]
    text(): Promise<string>
    formData(): Promise<FormData>
  }

  /** Variables have the types of `E` in Hono; the adapter has their names from its options. */
  export interface Context<E extends object = object> {
    readonly req: HonoRequest
    readonly finalized: boolean
    get res(): Response
    set res(response: Response | undefined)
    readonly env: E extends { readonly Bindings: infer Bindings } ? Bindings : unknown
    newResponse(body: ReadableStream | null, init: Response): Response
    get(name: string | symbol): unknown
    set(name: string | symbol, value: unknown): void
  }

  export type MiddlewareHandler<E extends object = object> = (
    c: Context<E>,
    next: () => Promise<void>,
  ) => Promise<unknown>
}
