import { isStreamed, PRIVATE } from '../../http/responses.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { sendResponse as sendNodeResponse } from '../node/send.ts'

/** The used part of Koa's context. */
export interface KoaContext {
  readonly request: NodeRequest
  readonly res: NodeResponse
  readonly path: string
  readonly originalUrl: string
  readonly query: unknown
  readonly state: object
  status: number
  body: unknown
  respond?: boolean | undefined
  set(name: string, value: string): void
  append(name: string, value: string[]): void
  remove(name: string): void
}

/**
 * Responds with a Web `Response` by the properties of the context, so that outer middleware sees status, headers and body.
 * Headers that the application has set are preserved, those of the same name are replaced, `Set-Cookie` lines are added.
 *
 * @example
 * router.get('/join', async (ctx) => sendResponse(ctx, await idp.startInteractiveLogin({ returnTo: '/welcome' }, ctx)))
 */
export async function sendResponse(ctx: KoaContext, response: Response): Promise<void> {
  // Koa would send the head of a stream with its first part. What outer middleware sets afterwards has no effect.
  if (isStreamed(response)) {
    ctx.respond = false
    return sendNodeResponse(ctx.res, response)
  }
  // Koa derives status and content type from the body, so it comes first. For none Koa before 2.12 sends the reason phrase.
  ctx.body = Buffer.from(await response.arrayBuffer())
  ctx.status = response.status
  if (!response.body) ctx.remove('Content-Type')
  for (const [name, value] of response.headers) if (name !== 'set-cookie') ctx.set(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) ctx.append('Set-Cookie', cookies)
}

/** Returns the headers of an error with those that forbid caches to store its response, unless it has decided about caching. */
function toPrivate(headers: object): object {
  const proto = Object.getPrototypeOf(headers)
  if (proto === Object.prototype || proto === null) return { ...PRIVATE, ...headers }
  // A copy of the `Headers` of an API client would lose their methods. Koa sends their own properties, and nothing else of them.
  Reflect.set(headers, 'Cache-Control', PRIVATE['Cache-Control'])
  return headers
}

/** Runs further middleware. No cache stores the response to its error, from which Koa removes all headers but those of the error. */
export async function runPrivate(next: () => unknown): Promise<unknown> {
  try {
    return await next()
  } catch (error) {
    if (error instanceof Error) {
      const value = toPrivate(Object('headers' in error ? error.headers : {}))
      // Not an assignment, which fails if a class has a getter.
      Reflect.defineProperty(error, 'headers', {
        value,
        configurable: true,
        enumerable: true,
        writable: true,
      })
    }
    throw error
  }
}
