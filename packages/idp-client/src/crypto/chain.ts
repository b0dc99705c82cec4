import type { MaybePromise } from './cipher.ts'

/** `then` that stays synchronous when the value is there already: the reason why Node seals without a single tick. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
