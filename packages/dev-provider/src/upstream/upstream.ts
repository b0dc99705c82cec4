import { DevProviderError } from '../error.ts'
import { openServer } from './connections.ts'
import type { UpstreamRequest } from './requests.ts'
import type { UpstreamResponder } from './responses.ts'
import type { RespondOptions } from './rules.ts'
import { endEvents, sendEvent } from './send.ts'
import { createService } from './service.ts'
import { createWaiters } from './waiters.ts'

export interface UpstreamOptions {
  /** TCP port; by default a free one. */
  readonly port?: number
  /** Path of the API, by default `/v1`. Requests for other paths are recorded and get a response, too. */
  readonly path?: string
}

/** An API on loopback that records every request and sends the response that a test wants, valid or not. */
export interface Upstream {
  /** The URL of the API, without a slash at its end: the target of a proxy. */
  readonly url: string
  /** The requests since the start or the last `reset`, in the order of their arrival. */
  readonly requests: readonly UpstreamRequest[]
  /** The connections since the start or the last `reset`, also those without a valid request. */
  readonly connections: number
  readonly openConnections: number
  /**
   * Sets the response to all requests, or to those that the options select. Returns its removal. The response that was set
   * last is used first; without one it is `{ kind: 'echo' }`.
   */
  respond(responder: UpstreamResponder, options?: RespondOptions): () => void
  /** Resolves when the predicate is true, which is called now and after each change of a request or a connection. */
  until(predicate: () => boolean): Promise<void>
  /**
   * Sends an event to all open event streams. Resolves when it was sent.
   *
   * @throws DevProviderError if no event stream is open
   */
  push(text: string): Promise<void>
  /**
   * Ends all open event streams.
   *
   * @throws DevProviderError if no event stream is open
   */
  endEvents(): Promise<void>
  /** Stops reading the bodies of requests. That a client aborts may be noticed only after `resume`. */
  pause(): void
  resume(): void
  /** Destroys all open connections. */
  disconnect(): void
  /** Destroys all open connections, and rejects new ones (`ECONNREFUSED`) until `accept`. */
  refuse(): Promise<void>
  accept(): Promise<void>
  /** Removes all requests and responses, and resumes reading. Open connections stay open. */
  reset(): void
  /** Destroys all connections and releases the port. Rejects with the first error that a function of `respond` threw. */
  close(): Promise<void>
}

/**
 * Starts an API for tests of proxies and other clients, on 127.0.0.1.
 *
 * @throws DevProviderError if `path` is invalid
 */
export async function startUpstream({ port = 0, path = '/v1' }: UpstreamOptions = {}): Promise<Upstream> {
  if (!/^(?:\/[\w-]+)+$/.test(path)) {
    throw new DevProviderError('path must be segments of letters, digits, _ and -, for example /v1.')
  }
  const waiters = createWaiters()
  const server = await openServer(port, waiters.check)
  const url = server.origin + path
  const { requests, rules, bodies, errors, receive, getStreams } = createService(url, waiters.check)
  server.serve(receive)
  let earlierConnections = 0
  return {
    url,
    requests,
    get connections() {
      return server.total - earlierConnections
    },
    get openConnections() {
      return server.open
    },
    respond: (responder, options = {}) => rules.add(responder, options),
    until: waiters.until,
    push: async (text) => {
      await Promise.all(getStreams().map((stream) => sendEvent(stream, text)))
    },
    endEvents: async () => {
      await Promise.all(getStreams().map(endEvents))
    },
    pause: bodies.pause,
    resume: bodies.resume,
    disconnect: server.destroyAll,
    refuse: server.refuse,
    accept: server.accept,
    reset: () => {
      requests.length = 0
      earlierConnections = server.total
      rules.clear()
      bodies.resume()
    },
    close: async () => {
      waiters.stop()
      await server.refuse()
      if (errors.length > 0) throw errors[0]
    },
  }
}
