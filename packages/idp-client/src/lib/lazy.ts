import { outsideRequest } from './request-scope.ts'

/** Runs `create` at the first call and remembers its result; a throw is not remembered, so the next call tries again. */
export function lazy<T>(create: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    // A promise would keep the request that asked first reachable.
    made ??= { value: outsideRequest(create) }
    return made.value
  }
}

/** Like `lazy` for a promise, for example of a module: a rejection is not remembered either. */
export function lazyPromise<T>(create: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  function start(): Promise<T> {
    const promise = outsideRequest(create)
    promise.catch(() => {
      if (made === promise) made = undefined
    })
    return promise
  }
  return () => {
    made ??= start()
    return made
  }
}
