/** Maximum number of names that are remembered at once. */
const LIMIT = 100_000

/** Names that may be used once. None is forgotten before its time, since it could then be used again. */
export class UsedNames {
  /** When each name can be forgotten, in seconds since the epoch; mostly in this order. */
  readonly #ends = new Map<string, number>()

  /**
   * Takes a name. Returns false if it has been taken and its time is not over, and undefined if 100,000 names are remembered: then
   * nobody can tell.
   *
   * @param now seconds since the epoch
   */
  take(
    name: string,
    { expiresAt, now }: { readonly expiresAt: number; readonly now: number },
  ): boolean | undefined {
    if ((this.#ends.get(name) ?? 0) > now) return false
    for (const [oldest, end] of this.#ends) {
      if (end > now) break
      this.#ends.delete(oldest)
    }
    // Names with other lifetimes may have put a later end in front.
    if (this.#ends.size >= LIMIT)
      for (const [each, end] of this.#ends) if (end <= now) this.#ends.delete(each)
    if (this.#ends.size >= LIMIT) return undefined
    this.#ends.set(name, expiresAt)
    return true
  }
}
