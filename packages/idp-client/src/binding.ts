import type { Exchange } from './http/exchange.ts'
import type { MaybePromise } from './lib/chain.ts'
import { conclude } from './lib/chain.ts'

/** A request of a host, and the function that writes its cookies. */
export interface Binding {
  readonly exchange: Exchange
  /** Flushes the staged cookies. Returns false if any are left, because the host accepts no cookies here. */
  commit(): MaybePromise<boolean>
}

/**
 * Runs an operation on a request and flushes the cookies that it staged, also if it throws: a rejected refresh token, for
 * example, must not be tried again.
 */
export function within<T>(
  binding: Binding,
  operation: (exchange: Exchange) => MaybePromise<T>,
): MaybePromise<T> {
  return conclude(
    () => operation(binding.exchange),
    () => binding.commit(),
  )
}
