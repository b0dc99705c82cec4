/** The development server of Next.js measures the file system, and reports a busy machine as a slow one. */
const ABOUT_THE_MACHINE =
  /⚠ Slow filesystem detected\.|See more: https:\/\/nextjs\.org\/docs\/app\/guides\/local-development$/

/** Errors and warnings of a browser or a server, compared with those that a test has announced. */
export class Complaints {
  readonly #source: string
  readonly #patience: number
  #made: string[] = []
  #announced: { readonly title: string; readonly matches: (complaint: string) => boolean }[] = []

  /**
   * @param source Names the program in the message of a failed check.
   * @param patience Milliseconds to wait for a complaint that was announced.
   */
  constructor(source: string, patience = 15_000) {
    this.#source = source
    this.#patience = patience
  }

  add(complaint: string): void {
    if (!ABOUT_THE_MACHINE.test(complaint)) this.#made.push(complaint)
  }

  /** Expects a complaint, at least once. */
  announce(expected: string | RegExp): void {
    const matches = (complaint: string): boolean =>
      typeof expected === 'string' ? complaint === expected : expected.test(complaint)
    this.#announced.push({ title: String(expected), matches })
  }

  /**
   * Waits for the announced complaints and starts over.
   *
   * @throws if one was not announced, or an announced one does not come
   */
  async settle(): Promise<void> {
    const deadline = performance.now() + this.#patience
    while (this.#missing().length > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const made = this.#made
    const unexpected = made.filter((complaint) => !this.#announced.some(({ matches }) => matches(complaint)))
    const missing = this.#missing()
    this.#made = []
    this.#announced = []
    const problems = [
      ...unexpected.map((complaint) => `not announced: ${complaint}`),
      ...missing.map((title) => `announced, but did not come: ${title}`),
    ]
    if (problems.length > 0) throw new Error(`${this.#source}: ${problems.join('; ')}`)
  }

  #missing(): string[] {
    return this.#announced.filter(({ matches }) => !this.#made.some(matches)).map(({ title }) => title)
  }
}

/** Splits what a program writes to standard error into messages: an indented line, or a brace, continues the one before. */
export function splitMessages(onMessage: (message: string) => void): {
  write(chunk: Buffer): void
  end(): void
} {
  let rest = ''
  const emit = (text: string): void => {
    for (const message of text.split(/\n(?=[^\s}])/)) if (message.trim() !== '') onMessage(message.trimEnd())
  }
  return {
    write(chunk) {
      rest += chunk.toString('utf8')
      // A message is complete when its line is; what continues it is written together with it.
      const end = rest.lastIndexOf('\n')
      if (end < 0) return
      emit(rest.slice(0, end))
      rest = rest.slice(end + 1)
    },
    end() {
      emit(rest)
      rest = ''
    },
  }
}
