import type { MaybePromise } from './cipher.ts'

/* Not `instanceof`: a promise may come from another realm of the process. */
function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** `then` that stays synchronous when the value is there already: the reason why Node seals without a single tick. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(next) : next(value)
}
