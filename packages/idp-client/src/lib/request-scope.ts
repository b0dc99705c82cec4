import { createAsyncContext } from '#async-context'
import type { AsyncContext } from './async-context.ts'

/* The contexts of this copy of the library: one for each adapter that an application uses. */
const contexts: AsyncContext<unknown>[] = []

/** Creates a context for a value of one request. */
export function createRequestContext<T>(): AsyncContext<T> {
  const context = createAsyncContext<T>()
  contexts.push(context)
  return context
}

function runWith<R>(values: readonly unknown[], callback: () => R): R {
  let run = callback
  contexts.forEach((context, index) => {
    const inner = run
    run = () => context.run(values[index], inner)
  })
  return run()
}

/**
 * Runs `callback` outside the scope of the request. Use it for work that may outlive the request: promises and timers keep
 * the scope in which they were created reachable, and with it the request and its response.
 */
export function outsideRequest<R>(callback: () => R): R {
  return runWith([], callback)
}

/** The scope of one request, for code of the application that runs on its behalf elsewhere. */
export interface RequestScope {
  run<R>(callback: () => R): R
  /** Drops the references to the request: later calls of `run` are calls of `outsideRequest`. */
  release(): void
}

/** Returns the scope of the current request. */
export function requestScope(): RequestScope {
  let values = contexts.map((context) => context.get())
  return {
    run: (callback) => runWith(values, callback),
    release() {
      values = []
    },
  }
}
