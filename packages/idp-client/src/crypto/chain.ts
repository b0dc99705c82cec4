import type { MaybePromise } from './cipher.ts'

/* Not `instanceof`: a promise may come from another realm. */
function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Like `then`, but synchronous for a value that is not a promise: this keeps sealing synchronous on Node. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(next) : next(value)
}
