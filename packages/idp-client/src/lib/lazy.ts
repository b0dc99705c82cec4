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
