import type { Exchange } from './http/exchange.ts'

/** A request of a host, and the function that writes its cookies. */
export interface Binding {
  readonly exchange: Exchange
  /** Flushes the staged cookies. Returns false if any are left, because the host accepts no cookies here. */
  commit(): Promise<boolean>
}

/**
 * Runs an operation on a request and flushes the cookies that it staged, also if it throws: a rejected refresh token, for
 * example, must not be tried again.
 */
export async function within<T>(binding: Binding, operation: (exchange: Exchange) => Promise<T>): Promise<T> {
  try {
    return await operation(binding.exchange)
  } finally {
    await binding.commit()
  }
}
