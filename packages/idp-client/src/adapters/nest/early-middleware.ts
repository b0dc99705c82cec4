import type { FastifyServer } from '../fastify/plugin.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'

export type ExpressMiddleware = (
  request: NodeRequest,
  response: NodeResponse,
  next: (error?: Error) => void,
) => void

/** The used part of the server of a platform: an application of Express or of Fastify. */
export type PlatformServer = FastifyServer | { use(middleware: ExpressMiddleware): unknown }

/**
 * Middleware that Express runs in front of the body parsers of Nest, if it is added before Nest mounts them. Hooks of Fastify run before
 * its parsers in any case.
 */
export class EarlyMiddleware {
  #server: PlatformServer | undefined
  readonly #waiting: ExpressMiddleware[] = []

  /** Mounts a middleware, at once or when the server is known. */
  add(middleware: ExpressMiddleware): void {
    this.#waiting.push(middleware)
    this.#mount()
  }

  /** Nest has created the server, and mounts nothing yet. */
  attach(server: PlatformServer): void {
    this.#server = server
    this.#mount()
  }

  #mount(): void {
    const server = this.#server
    if (!server || 'addHook' in server) return
    for (const middleware of this.#waiting.splice(0)) server.use(middleware)
  }
}
