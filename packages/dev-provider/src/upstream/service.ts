import type { IncomingMessage } from 'node:http'
import { DevProviderError } from '../error.ts'
import type { Exchange } from './exchange.ts'
import { createExchange } from './exchange.ts'
import type { BodyReader, UpstreamRequest } from './requests.ts'
import { createBodyReader, createRecord } from './requests.ts'
import type { Rules } from './rules.ts'
import { createRules } from './rules.ts'
import { send } from './send.ts'

/** The part of an API that receives requests and responds. */
export interface Service {
  readonly requests: UpstreamRequest[]
  readonly rules: Rules
  readonly bodies: BodyReader
  /** Errors that functions of the test threw. */
  readonly errors: readonly unknown[]
  receive(incoming: IncomingMessage): void
  /**
   * Returns the open event streams.
   *
   * @throws DevProviderError if there are none
   */
  getStreams(): Exchange[]
}

export function createService(url: string, onChange: () => void): Service {
  const requests: UpstreamRequest[] = []
  const rules = createRules()
  const bodies = createBodyReader(onChange)
  const errors: unknown[] = []
  const streams = new Set<Exchange>()

  const respond = async (incoming: IncomingMessage, exchange: Exchange): Promise<void> => {
    const { record } = exchange
    const { responder, early } = rules.take(record)
    const body = bodies.read(incoming, record)
    if (!early && !(await body)) return
    const response = typeof responder === 'function' ? await responder(record) : responder
    await send(response, exchange, { streams, target: url })
  }
  return {
    requests,
    rules,
    bodies,
    errors,
    receive: (incoming) => {
      const exchange = createExchange(incoming, createRecord(incoming), onChange)
      requests.push(exchange.record)
      onChange()
      respond(incoming, exchange).catch((error: unknown) => {
        errors.push(error)
        exchange.destroy()
      })
    },
    getStreams: () => {
      const open = [...streams].filter(({ isOpen }) => isOpen())
      if (open.length > 0) return open
      throw new DevProviderError(
        "No event stream is open: respond with { kind: 'events' } to a request first.",
      )
    },
  }
}
