import type { Exchange } from './http/exchange.ts'

/** A request of one host, and the way back to it. */
export interface Binding {
  readonly exchange: Exchange
  /** Flushes what is staged; false when the host takes no cookies here and something was staged. */
  commit(): Promise<boolean>
}

/** Runs one operation on one host's request: nothing is written unless the operation resolved. */
export async function within<T>(binding: Binding, operation: (exchange: Exchange) => Promise<T>): Promise<T> {
  const value = await operation(binding.exchange)
  await binding.commit()
  return value
}
