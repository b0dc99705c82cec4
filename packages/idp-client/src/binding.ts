import type { Exchange } from './http/exchange.ts'

/** A request of one host, and the way back to it. */
export interface Binding {
  readonly exchange: Exchange
  /** Flushes what is staged; false when the host takes no cookies here and something was staged. */
  commit(): Promise<boolean>
}

/**
 * Runs one operation on one host's request and flushes what it staged, also when it fails: an operation that stages and
 * then throws means it (a dead refresh token must not be tried again).
 */
export async function within<T>(binding: Binding, operation: (exchange: Exchange) => Promise<T>): Promise<T> {
  try {
    return await operation(binding.exchange)
  } finally {
    await binding.commit()
  }
}
