import { AsyncLocalStorage } from 'node:async_hooks'

const registry = Symbol.for('idp-client')

/** The registry of one process. */
interface Shared {
  known?: unknown
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

/** One process of several that serve the same application: what the library shares within a process is its own. */
export class Process {
  readonly #shared: Shared = {}

  run<T>(work: () => T): T {
    divideRegistry()
    return running.run(this.#shared, work)
  }
}
