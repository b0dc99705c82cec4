import { AsyncLocalStorage } from 'node:async_hooks'

const registry = Symbol.for('idp-client')

/** The registry of one process. */
interface Shared {
  known?: unknown
}

/**
 * One process of several that serve the same application: what the library shares within a process is its own. What
 * runs in it must have ended before another one runs.
 */
export class Process {
  readonly #shared: Shared = {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    const before: unknown = Reflect.get(globalThis, registry)
    Reflect.set(globalThis, registry, this.#shared.known)
    try {
      return await work()
    } finally {
      this.#shared.known = Reflect.get(globalThis, registry)
      Reflect.set(globalThis, registry, before)
    }
  }
}

const running = new AsyncLocalStorage<Shared>()

/** Makes the registry of the library that of the process that runs, outside of processes the one before. */
function divideRegistry(): void {
  if (Object.getOwnPropertyDescriptor(globalThis, registry)?.get) return
  const outside: Shared = { known: Reflect.get(globalThis, registry) }
  const shared = (): Shared => running.getStore() ?? outside
  Object.defineProperty(globalThis, registry, {
    configurable: true,
    get: () => shared().known,
    set: (known: unknown) => {
      shared().known = known
    },
  })
}

/** A process beside which others may run. What its work does not call itself, such as a server that it sends a request to, is outside. */
export class ConcurrentProcess {
  readonly #shared: Shared = {}

  run<T>(work: () => T): T {
    divideRegistry()
    return running.run(this.#shared, work)
  }
}
