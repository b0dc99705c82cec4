import type { DevProvider } from 'idp-dev-provider'

export type Fault = Parameters<DevProvider['faults']['set']>[1]

/** `httpTimeout` of tests against real sockets, and limit of `vi.waitFor`, in milliseconds: a busy machine is slow as well. */
export const PATIENT = 20_000

/** `httpTimeout` where a fault ends by it: the test takes that long. */
export const SHORT = 1500

const SILENT: readonly Fault['kind'][] = ['hang', 'delay', 'slowHeaders', 'slowBody']

/** Returns the `httpTimeout` for a fault: only silence ends by it. */
export const toTimeout = ({ kind }: Fault): number => (SILENT.includes(kind) ? SHORT : PATIENT)
