const registry = Symbol.for('idp-client')

/**
 * One process of several that serve the same application: what the library shares within a process is its own. What
 * runs in it must have ended before another one runs.
 */
export class Process {
  #known: unknown

  async run<T>(work: () => Promise<T>): Promise<T> {
    const holder = globalThis as { [registry]?: unknown }
    const before = holder[registry]
    holder[registry] = this.#known
    try {
      return await work()
    } finally {
      this.#known = holder[registry]
      holder[registry] = before
    }
  }
}
