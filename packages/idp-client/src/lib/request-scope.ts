import { createAsyncContext, waitUntil } from '#async-context'
import type { AsyncContext, WaitUntil } from './async-context.ts'
import { monotonic } from './clock.ts'
import { processWide } from './registry.ts'

const ignore = (): void => {}

/* One context for each kind of host that an application uses. */
const contexts = processWide('cache:request-contexts/2', () => new Map<string, AsyncContext<unknown>>())

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
  let values = new Map([...contexts].map(([name, context]) => [name, context.getStore()] as const))
  return {
    run: (callback) => runWith(values, callback),
    release() {
      values = new Map()
    },
  }
}

interface Platform {
  readonly [context: symbol]: { get?(): { waitUntil?: WaitUntil } | undefined } | undefined
}

/** The keys under which platforms offer the context of the current request: those that run Next.js, and Vercel. */
const REQUEST_CONTEXTS = [Symbol.for('@next/request-context'), Symbol.for('@vercel/request-context')]

/**
 * Keeps the current request alive until `work` ends, where the platform can: other requests share it, and I/O and timers end
 * with the request that began them.
 */
export function outliveRequest(work: Promise<unknown>): void {
  const offered = REQUEST_CONTEXTS.map((key) => (globalThis as Platform)[key]?.get?.())
  const context = waitUntil ? { waitUntil } : offered.find((candidate) => candidate?.waitUntil)
  context?.waitUntil?.(work.then(ignore, ignore))
}

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
  return () => {
    if (made) return made
    const promise = outsideRequest(create)
    made = promise
    promise.catch(() => {
      if (made === promise) made = undefined
    })
    return promise
  }
}

/**
 * Returns a function to call after each addition. It schedules `sweep`, which removes what has expired, in that many
 * milliseconds, and again as long as `sweep` returns true because something is left. All additions share one timer, since a
 * timer keeps the scope in which it was created reachable. The timer does not keep the process alive.
 */
export function sweeping(milliseconds: number, sweep: () => boolean): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Number.POSITIVE_INFINITY

  function schedule(): void {
    clearTimeout(timer)
    dueAt = monotonic() + milliseconds
    timer = outsideRequest(() => setTimeout(run, milliseconds))
    const given: unknown = timer
    if (typeof given === 'object' && given !== null && 'unref' in given) (given as { unref(): void }).unref()
  }

  function run(): void {
    timer = undefined
    if (sweep()) schedule()
  }

  return () => {
    // Some runtimes end the timers of a request with it.
    const isLost = timer !== undefined && monotonic() > dueAt + milliseconds
    if (isLost) sweep()
    if (timer === undefined || isLost) schedule()
  }
}
