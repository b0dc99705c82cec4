/** A value, or a promise of it where something asynchronous is needed. */
export type MaybePromise<T> = T | Promise<T>

/* Not `instanceof`: a promise may come from another realm. */
function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/**
 * Like `then`, but synchronous for a value that is not a promise. Every promise of a request costs time, so operations that
 * wait for nothing create none.
 */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return isPromise(value) ? value.then(next) : next(value)
}

/** Like `Promise.all`, but synchronous if none of the values is a promise. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[])
}

/** Like `try` and `catch`: calls `onError` if `work` throws or rejects. */
export function recover<T>(
  work: () => MaybePromise<T>,
  onError: (error: unknown) => MaybePromise<T>,
): MaybePromise<T> {
  try {
    const result = work()
    return isPromise(result) ? result.catch(onError) : result
  } catch (error) {
    return onError(error)
  }
}

/** Like `try` and `finally`: calls `last` after `work` in any case, and waits for it. */
export function conclude<T>(work: () => MaybePromise<T>, last: () => MaybePromise<unknown>): MaybePromise<T> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    return chain(last(), () => {
      throw error
    })
  }
  return isPromise(result) ? result.finally(last) : chain(last(), () => result)
}
