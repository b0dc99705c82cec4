import type { Endpoint } from './endpoints.ts'
import type { Failure } from './failure.ts'
import type { Call } from './message.ts'
import { parseForm, parseJsonBody, parseQuery } from './message.ts'

/** One request as the provider received it. */
export interface LoggedRequest {
  readonly endpoint: Endpoint
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Form fields; empty when the body was no form. */
  readonly body: Readonly<Record<string, string>>
  /** The JSON object in the body; absent when there was none. */
  readonly json?: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch, by the provider's clock. */
  readonly time: number
  /** Status that the provider decided on; absent while it works, and when a fault came first. */
  readonly status?: number
  /** The error that the provider responded with, and why. */
  readonly failure?: Failure
}

export interface RequestLog {
  add(
    call: Call,
    endpoint: Endpoint,
    time: number,
  ): { -readonly [Key in keyof LoggedRequest]: LoggedRequest[Key] }
  all(endpoint?: Endpoint): readonly LoggedRequest[]
  clear(): void
}

// A development server that runs for weeks must not keep every request; no test comes near this.
const LIMIT = 20_000

export function createRequestLog(): RequestLog {
  let entries: LoggedRequest[] = []
  return {
    add: (call, endpoint, time) => {
      const json = parseJsonBody(call)
      const entry = {
        endpoint,
        method: call.method,
        url: call.url,
        query: Object.fromEntries(parseQuery(call)),
        headers: Object.fromEntries(
          Object.entries(call.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
        ),
        body: Object.fromEntries(parseForm(call)),
        ...(json ? { json } : {}),
        time,
      }
      entries.push(entry)
      if (entries.length > LIMIT) entries = entries.slice(LIMIT / 2)
      return entry
    },
    all: (endpoint) => entries.filter((entry) => endpoint === undefined || entry.endpoint === endpoint),
    clear: () => {
      entries = []
    },
  }
}
