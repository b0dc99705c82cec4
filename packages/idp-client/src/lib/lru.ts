/** A map that forgets its least recently used entry above `limit`, so that nothing derived from requests can grow without bound. */
export class Lru<K, V> {
  readonly #limit: number
  readonly #entries = new Map<K, V>()

  constructor(limit: number) {
    this.#limit = limit
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
    if (this.#entries.size <= this.#limit) return
    const oldest = this.#entries.keys().next()
    if (!oldest.done) this.#entries.delete(oldest.value)
  }

  delete(key: K): boolean {
    return this.#entries.delete(key)
  }

  /** From the least to the most recently used; looking at them is no use. */
  entries(): IterableIterator<[K, V]> {
    return this.#entries.entries()
  }
}
