import { processWide } from '../lib/registry.ts'
import { concatenate } from '../lib/utf8.ts'

/** The longest body that is kept, to send it again. */
const LONGEST = 1_048_576
/** The longest bodies together, in bytes. */
const MOST = 33_554_432

interface KeptBytes {
  bytes: number
}

/* Only their number: each body stays with its request. */
const keptBytes = (): KeptBytes => processWide('queue:proxied-bodies/1', () => ({ bytes: 0 }))

type Reader = ReadableStreamDefaultReader<Uint8Array>

/**
 * The body of a proxied request: sent on as it arrives, and kept while it is short, because the API may demand another token
 * or proof.
 */
export class Upload {
  readonly #reader: Reader
  readonly #onChunk: () => void
  #kept: Uint8Array[] | undefined = []
  #size = 0
  /** The read under way: an API that has responded early may have left one. */
  #reading: Promise<unknown> | undefined
  #isDone = false

  /** `onChunk` is called for each part that arrives. */
  constructor(body: ReadableStream<Uint8Array>, onChunk: () => void) {
    this.#reader = body.getReader()
    this.#onChunk = onChunk
  }

  /** Frees what is kept: it is not sent again. */
  forget(): void {
    if (this.#kept) keptBytes().bytes -= this.#size
    this.#kept = undefined
  }

  #keep(chunk: Uint8Array): void {
    if (!this.#kept) return
    const isTooMuch = this.#size + chunk.length > LONGEST || keptBytes().bytes + chunk.length > MOST
    if (isTooMuch) {
      this.forget()
      return
    }
    this.#kept.push(chunk)
    this.#size += chunk.length
    keptBytes().bytes += chunk.length
  }

  /** Reads the next part; `undefined` at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    await this.#reading
    if (this.#isDone) return undefined
    const reading = this.#reader.read()
    this.#reading = reading.catch(() => undefined)
    const { done, value } = await reading
    this.#onChunk()
    if (done) this.#isDone = true
    else this.#keep(value)
    return value
  }

  /** The body as it arrives. To cancel it leaves the rest for `repeat`. */
  stream(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#next()
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Returns the whole body, to send it again; `null` if it is too long, or cannot be read to its end. */
  async repeat(): Promise<Uint8Array<ArrayBuffer> | null> {
    try {
      while (this.#kept && (await this.#next())) {
        // Each part is kept when it is read.
      }
    } catch {
      return null
    }
    return this.#kept ? concatenate(this.#kept).bytes : null
  }

  /** Frees what is kept, and tells the sender that nothing more is read. */
  close(): void {
    this.forget()
    if (!this.#isDone) this.#reader.cancel().catch(() => undefined)
    this.#isDone = true
  }
}
