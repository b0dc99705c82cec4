/**
 * A map that deletes its least recently used entries above `limit`, so that memory for data of requests is bounded. Entries
 * for which `isNeeded` returns true are not deleted: the caller has to bound their number.
 */
export class Lru<K, V> {
  readonly #limit: number
  readonly #isNeeded: (value: V) => boolean
  readonly #entries = new Map<K, V>()

  constructor(limit: number, isNeeded: (value: V) => boolean = () => false) {
    this.#limit = limit
    this.#isNeeded = isNeeded
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const [oldest, kept] of this.#entries) {
      if (this.#entries.size <= this.#limit) return
      if (!this.#isNeeded(kept)) this.#entries.delete(oldest)
    }
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  /** Returns the entries from the least to the most recently used. Does not count as use. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }
}
