import { IdpError } from '../errors/base.ts'
import { processWide } from '../lib/registry.ts'
import type { Bytes } from '../lib/utf8.ts'
import { concatenate } from '../lib/utf8.ts'

/** The longest body that is kept, to send it again. */
const MAX_KEPT_BYTES = 1_048_576
/** The longest body that is read before it is passed on, in either direction: a stream costs more than its content. */
export const MAX_WHOLE_BYTES = 65_536
/** All that is kept together, in bytes. */
const MAX_KEPT_TOGETHER = 33_554_432

/* Only their number: each body stays with its request. */
const keptBytes = (): { bytes: number } => processWide('queue:proxied-bodies/1', () => ({ bytes: 0 }))

/** A body as `fetch` takes it. */
export interface SentBody {
  readonly body?: Bytes | ReadableStream<Uint8Array>
  readonly duplex?: 'half'
  /** Whether it may be longer than what is kept. */
  readonly isLong?: boolean
}

/**
 * The body of a proxied request: sent on as it arrives, and kept while it is short, because the API may demand another token
 * or proof.
 */
export class Upload {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #onChunk: () => void
  /** Whether it is read before it is sent on. */
  readonly #isWhole: boolean
  readonly #isLong: boolean
  #kept: Uint8Array[] | undefined = []
  #size = 0
  /** Its part of the bytes that are kept in this process. */
  #counted: number
  /** The read under way: an API that has responded early may have left one. */
  #reading: Promise<unknown> | undefined
  #isDone = false
  #isRepeated = false

  /**
   * @param length as the sender states it; undefined if it does not
   * @param onChunk called for each part that arrives
   */
  constructor(body: ReadableStream<Uint8Array>, length: number | undefined, onChunk: () => void) {
    this.#reader = body.getReader()
    this.#onChunk = onChunk
    const kept = keptBytes()
    this.#isWhole =
      length !== undefined && length <= MAX_WHOLE_BYTES && kept.bytes + length <= MAX_KEPT_TOGETHER
    this.#isLong = length === undefined || length > MAX_KEPT_BYTES
    this.#counted = this.#isWhole && length ? length : 0
    kept.bytes += this.#counted
  }

  /** Whether all that has arrived is kept. */
  get isKept(): boolean {
    return this.#kept !== undefined
  }

  /** Frees what is kept: it is not sent again. */
  forget(): void {
    if (this.#kept) keptBytes().bytes -= this.#counted
    this.#kept = undefined
  }

  #keep(chunk: Uint8Array): void {
    if (!this.#kept) return
    this.#size += chunk.length
    const more = Math.max(0, this.#size - this.#counted)
    if (this.#size > MAX_KEPT_BYTES || keptBytes().bytes + more > MAX_KEPT_TOGETHER) {
      this.forget()
      return
    }
    this.#kept.push(chunk)
    this.#counted += more
    keptBytes().bytes += more
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

  /** Returns the body to send first: as it arrives, unless it is short. Throws `INVALID_REQUEST` if that breaks off. */
  async first(): Promise<SentBody> {
    if (!this.#isWhole) return this.#stream()
    const whole = await this.repeat()
    if (whole) return whole
    throw new IdpError('INVALID_REQUEST', { detail: 'The body of the request broke off.' })
  }

  /* To cancel it leaves the rest for `repeat`. */
  #stream(): SentBody {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#next()
          // The parts that `repeat` reads would be missing here.
          if (this.#isRepeated) controller.error(new TypeError('The body is sent again.'))
          else if (chunk) controller.enqueue(chunk)
          else controller.close()
        },
      },
      { highWaterMark: 0 },
    )
    return { body, duplex: 'half', isLong: this.#isLong }
  }

  /** Returns the whole body, to send it again; `null` if it is too long, or cannot be read to its end. */
  async repeat(): Promise<SentBody | null> {
    this.#isRepeated = true
    try {
      while (this.#kept && (await this.#next())) {
        // Each part is kept when it is read.
      }
    } catch {
      return null
    }
    return this.#kept ? { body: concatenate(this.#kept).bytes } : null
  }

  /** Frees what is kept, and tells the sender that nothing more is read. */
  close(): void {
    this.forget()
    if (!this.#isDone) this.#reader.cancel().catch(() => undefined)
    this.#isDone = true
  }
}
