import { createAsyncContext, waitUntil } from '#async-context'
import type { AsyncContext, WaitUntil } from './async-context.ts'
import { processWide } from './registry.ts'

const ignore = (): void => {}

type RequestContexts = Map<string, AsyncContext<unknown>>

/* One context for each kind of host that an application uses. */
const contexts: RequestContexts = processWide('cache:request-contexts/1', () => new Map())

/**
 * Returns the context for a value of one request. All copies of the package share it, so that a copy finds the request
 * that another one serves.
 *
 * @param name a name with the version of the value's shape: two versions of this package may meet in one process.
 */
export function requestContext<T>(name: `${string}/${number}`): AsyncContext<T> {
  const context = contexts.get(name) ?? createAsyncContext<unknown>()
  contexts.set(name, context)
  return context as AsyncContext<T>
}

function runWith<R>(values: ReadonlyMap<string, unknown>, callback: () => R): R {
  let run = callback
  for (const [name, context] of contexts) {
    const inner = run
    run = () => context.run(values.get(name), inner)
  }
  return run()
}

/**
 * Runs `callback` outside the scope of the request. Use it for work that may outlive the request: promises and timers keep
 * the scope in which they were created reachable, and with it the request and its response.
 */
export function outsideRequest<R>(callback: () => R): R {
  return runWith(new Map(), callback)
}

/** The scope of one request, for code of the application that runs on its behalf elsewhere. */
export interface RequestScope {
  run<R>(callback: () => R): R
  /** Drops the references to the request: later calls of `run` are calls of `outsideRequest`. */
  release(): void
}

/** Returns the scope of the current request. */
export function requestScope(): RequestScope {
  let values = new Map([...contexts].map(([name, context]) => [name, context.get()] as const))
  return {
    run: (callback) => runWith(values, callback),
    release() {
      values = new Map()
    },
  }
}

interface VercelRuntime {
  readonly [context: symbol]: { get?(): { waitUntil?: WaitUntil } | undefined } | undefined
}

/** The key under which functions on Vercel find the context of their request. */
const VERCEL_CONTEXT = Symbol.for('@vercel/request-context')

/**
 * Keeps the current request alive until `work` ends, where the platform can: other requests share it, and I/O and timers end
 * with the request that began them.
 */
export function outliveRequest(work: Promise<unknown>): void {
  const context = waitUntil ? { waitUntil } : (globalThis as VercelRuntime)[VERCEL_CONTEXT]?.get?.()
  context?.waitUntil?.(work.then(ignore, ignore))
}
