import type { Binding, Exchange } from './http/exchange.ts'
import type { MaybePromise } from './lib/chain.ts'
import { conclude } from './lib/chain.ts'

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
