import type { Bytes } from './utf8.ts'

/*
 * DEFLATE (RFC 1951) with a preset dictionary, in one block with the fixed Huffman codes of section 3.2.6. Any other
 * implementation can inflate the stream if it has the dictionary. For one or two kilobytes this is as fast as `node:zlib`,
 * which allocates a context for each call, and it is synchronous on every host: the streams of Web platforms support no
 * dictionary, and the Edge runtime of Next.js lacks them.
 */

/** Maximum length of the dictionary and the uncompressed bytes together: positions have 16 bits. */
const MAX_WINDOW_BYTES = 65_535
const MAX_DISTANCE = 32_768
const MIN_MATCH = 3
const MAX_MATCH = 258
/* Maximum number of earlier positions that are compared with each position. More save less than a percent. */
const MAX_CANDIDATES = 8
const HASH_BITS = 11

const LITERALS = 256
const END_OF_BLOCK = 256
const LENGTH_CODES = 29
const DISTANCE_CODES = 30
/* BFINAL = 1, BTYPE = 01, least significant bit first. */
const BLOCK_HEADER = 3
const BLOCK_HEADER_BITS = 3
const DISTANCE_BITS = 5
const MAX_CODE_BITS = 9
/* Of a code and its extra bits. */
const MAX_LENGTH_BITS = MAX_CODE_BITS + 5
const MAX_DISTANCE_BITS = DISTANCE_BITS + 13

/** The values of the codes of section 3.2.5: each code stands for `base` and the number in its extra bits. */
interface Ranges {
  readonly base: Uint16Array
  readonly extraBits: Uint8Array
}

/** After two groups of codes without extra bits, each group has one more bit than the group before. */
function createRanges(first: number, codes: number, groupSize: number): Ranges {
  const ranges = { base: new Uint16Array(codes), extraBits: new Uint8Array(codes) }
  let base = first
  for (let code = 0; code < codes; code++) {
    const extraBits = Math.max(0, Math.floor(code / groupSize) - 1)
    ranges.base[code] = base
    ranges.extraBits[code] = extraBits
    base += 1 << extraBits
  }
  return ranges
}

const LENGTHS = createRanges(MIN_MATCH, LENGTH_CODES, 4)
// The last code is an exception: it stands for the maximum length alone.
LENGTHS.base[LENGTH_CODES - 1] = MAX_MATCH
LENGTHS.extraBits[LENGTH_CODES - 1] = 0
const DISTANCES = createRanges(1, DISTANCE_CODES, 2)

/** Code of each match length. */
const LENGTH_CODE = new Uint8Array(MAX_MATCH + 1)
for (const [code, base] of LENGTHS.base.entries()) LENGTH_CODE.fill(code, base)

function reverseBits(value: number, count: number): number {
  let reversed = 0
  for (let bit = 0; bit < count; bit++) reversed = (reversed << 1) | ((value >> bit) & 1)
  return reversed
}

/** The fixed Huffman codes of literals and lengths (section 3.2.6): first symbol, its code, number of bits. */
const FIXED_CODES = [
  [0, 0b00110000, 8],
  [144, 0b110010000, 9],
  [256, 0b0000000, 7],
  [280, 0b11000000, 8],
  [288, 0, 0],
] as const

/** Codes by symbol, reversed: the stream has the most significant bit of a Huffman code first. */
const SYMBOL_CODE = new Uint16Array(288)
const SYMBOL_BITS = new Uint8Array(288)
/**
 * By the next nine bits of the stream: the number of bits of the symbol, the number of extra bits after it, shifted by 4, and
 * its value, shifted by 8. The value is a literal, `END_OF_BLOCK`, or the base of a length beyond that.
 */
const SYMBOLS = new Int32Array(1 << MAX_CODE_BITS)
/** Value of a code that does not exist, longer and farther than any match. */
const NO_VALUE = 0xfffff

/** Returns the entry of a symbol, which has so many bits, in `SYMBOLS`. */
function toEntry(symbol: number, bits: number): number {
  if (symbol <= END_OF_BLOCK) return (symbol << 8) | bits
  const code = symbol - END_OF_BLOCK - 1
  const value = code < LENGTH_CODES ? END_OF_BLOCK + (LENGTHS.base[code] ?? 0) : NO_VALUE
  return (value << 8) | ((LENGTHS.extraBits[code] ?? 0) << 4) | bits
}

for (const [index, [first, code, bits]] of FIXED_CODES.entries()) {
  for (let symbol = first; symbol < (FIXED_CODES[index + 1]?.[0] ?? first); symbol++) {
    const reversed = reverseBits(code + symbol - first, bits)
    SYMBOL_CODE[symbol] = reversed
    SYMBOL_BITS[symbol] = bits
    for (let next = reversed; next < SYMBOLS.length; next += 1 << bits) SYMBOLS[next] = toEntry(symbol, bits)
  }
}
const DISTANCE_CODE = Uint8Array.from({ length: 32 }, (_, code) => reverseBits(code, DISTANCE_BITS))
/** By the next five bits of the stream: the number of extra bits, and the base of the distance, shifted by 4. */
const DISTANCE_ENTRIES = Int32Array.from(DISTANCE_CODE, (code) =>
  code < DISTANCE_CODES
    ? ((DISTANCES.base[code] ?? 0) << 4) | (DISTANCES.extraBits[code] ?? 0)
    : NO_VALUE << 4,
)

class BitWriter {
  readonly #bytes: Bytes
  #at = 0
  #bits = 0
  #count = 0

  constructor(bytes: Bytes) {
    this.#bytes = bytes
  }

  write(bits: number, count: number): void {
    this.#bits |= bits << this.#count
    this.#count += count
    while (this.#count >= 8) {
      this.#bytes[this.#at++] = this.#bits
      this.#bits >>>= 8
      this.#count -= 8
    }
  }

  writeSymbol(symbol: number): void {
    this.write(SYMBOL_CODE[symbol] ?? 0, SYMBOL_BITS[symbol] ?? 0)
  }

  finish(): Bytes {
    this.writeSymbol(END_OF_BLOCK)
    this.write(0, 7)
    return this.#bytes.subarray(0, this.#at)
  }
}

/**
 * Finds earlier occurrences of the bytes at a position by a hash of the first three. It keeps positions but no bytes, so that
 * one finder is used for every window that starts with its dictionary: to allocate its arrays takes longer than a search.
 */
class MatchFinder {
  /** Latest position of each hash. 0 means that there is no position, so the first byte of a dictionary is never matched. */
  readonly #latest = new Uint16Array(1 << HASH_BITS)
  readonly #latestInDictionary: Uint16Array
  /** By position: the last earlier position with the same hash. */
  readonly #previous = new Uint16Array(MAX_WINDOW_BYTES)
  /** Distance of the match that `find` found. */
  distance = 0

  constructor(dictionary: Bytes) {
    this.add(dictionary, 1, dictionary.length)
    this.#latestInDictionary = this.#latest.slice()
  }

  /** Removes the positions after the dictionary. */
  reset(): void {
    this.#latest.set(this.#latestInDictionary)
  }

  /** Adds the positions from `from` up to `to`, without the last two of the window, which begin no match. */
  add(window: Bytes, from: number, to: number): void {
    const end = Math.min(to, window.length - MIN_MATCH + 1)
    for (let at = from; at < end; at++) this.#addOne(window, at)
  }

  /** Adds a position, and returns the last earlier one with the same hash. */
  #addOne(window: Bytes, at: number): number {
    const bytes = ((window[at] ?? 0) << 16) | ((window[at + 1] ?? 0) << 8) | (window[at + 2] ?? 0)
    const hash = Math.imul(bytes, 0x9e3779b1) >>> (32 - HASH_BITS)
    const earlier = this.#latest[hash] ?? 0
    this.#previous[at] = earlier
    this.#latest[hash] = at
    return earlier
  }

  /** Returns the length of the longest match at this position, 0 if there is none; sets its distance, and adds the position. */
  find(window: Bytes, at: number): number {
    const max = Math.min(MAX_MATCH, window.length - at)
    let longest = 0
    if (max < MIN_MATCH) return longest
    let candidate = this.#addOne(window, at)
    for (let count = 0; count < MAX_CANDIDATES && longest < max; count++) {
      if (candidate === 0 || at - candidate > MAX_DISTANCE) break
      // The byte that would make the match longer differs in most cases.
      if (window[candidate + longest] === window[at + longest]) {
        let length = 0
        while (length < max && window[candidate + length] === window[at + length]) length++
        if (length >= MIN_MATCH && length > longest) {
          longest = length
          this.distance = at - candidate
        }
      }
      candidate = this.#previous[candidate] ?? 0
    }
    return longest
  }
}

function toDistanceCode(distance: number): number {
  if (distance <= 4) return distance - 1
  const extraBits = 30 - Math.clz32(distance - 1)
  return 2 * extraBits + ((distance - 1) >> extraBits)
}

function writeExtraBits(writer: BitWriter, { base, extraBits }: Ranges, code: number, value: number): void {
  writer.write(value - (base[code] ?? 0), extraBits[code] ?? 0)
}

function writeMatch(writer: BitWriter, length: number, distance: number): void {
  const lengthCode = LENGTH_CODE[length] ?? 0
  writer.writeSymbol(END_OF_BLOCK + 1 + lengthCode)
  writeExtraBits(writer, LENGTHS, lengthCode, length)
  const distanceCode = toDistanceCode(distance)
  writer.write(DISTANCE_CODE[distanceCode] ?? 0, DISTANCE_BITS)
  writeExtraBits(writer, DISTANCES, distanceCode, distance)
}

/**
 * Inflates a stream. Throws a RangeError if it is invalid, or has more or fewer bytes than `length`. Every request with a
 * session does this, so the state is in variables of one function.
 */
function inflateStream(dictionary: Uint8Array, stream: Uint8Array, length: number): Bytes {
  const window = new Uint8Array(dictionary.length + length)
  window.set(dictionary)
  let at = dictionary.length
  // The next bits of the stream and their number; after the end they are zeros.
  let bits = stream[0] ?? 0
  let count = 8 - BLOCK_HEADER_BITS
  let next = 1
  if ((bits & ((1 << BLOCK_HEADER_BITS) - 1)) !== BLOCK_HEADER) throw invalidStream()
  bits >>= BLOCK_HEADER_BITS
  for (;;) {
    for (; count < MAX_LENGTH_BITS; count += 8) bits |= (stream[next++] ?? 0) << count
    const symbol = SYMBOLS[bits & ((1 << MAX_CODE_BITS) - 1)] ?? 0
    bits >>= symbol & 15
    count -= symbol & 15
    const value = symbol >> 8
    if (value === END_OF_BLOCK) break
    if (value < LITERALS) {
      if (at === window.length) throw invalidStream()
      window[at++] = value
      continue
    }
    const lengthBits = (symbol >> 4) & 15
    const matchEnd = at + value - END_OF_BLOCK + (bits & ((1 << lengthBits) - 1))
    bits >>= lengthBits
    count -= lengthBits
    for (; count < MAX_DISTANCE_BITS; count += 8) bits |= (stream[next++] ?? 0) << count
    const distance = DISTANCE_ENTRIES[bits & ((1 << DISTANCE_BITS) - 1)] ?? 0
    const extraBits = distance & 15
    bits >>= DISTANCE_BITS
    let from = at - (distance >> 4) - (bits & ((1 << extraBits) - 1))
    bits >>= extraBits
    count -= DISTANCE_BITS + extraBits
    // Also for codes that do not exist.
    if (from < 0 || matchEnd > window.length) throw invalidStream()
    // One by one: a match may overlap the bytes that it produces.
    while (at < matchEnd) window[at++] = window[from++] ?? 0
  }
  // `next` counts bytes beyond the end, too: nothing may be left, and nothing may be missing.
  if (at !== window.length || next - (count >> 3) !== stream.length) throw invalidStream()
  return window.subarray(dictionary.length)
}

const invalidStream = (): RangeError => new RangeError('invalid compressed data')

export interface Deflate {
  /** Compresses at most 65,535 bytes less the dictionary. The result depends on the bytes and the dictionary only. */
  deflate(bytes: Bytes): Bytes
  /** Inflates a stream of `length` bytes. Throws a RangeError if it is invalid, or has another length. */
  inflate(stream: Uint8Array, length: number): Bytes
}

/** Creates the two functions for a dictionary. It is part of the format of the stream. */
export function createDeflate(dictionary: Bytes): Deflate {
  let finder: MatchFinder | undefined

  return {
    deflate(bytes) {
      const length = dictionary.length + bytes.length
      if (length > MAX_WINDOW_BYTES) throw new RangeError('too many bytes')
      // One allocation for window and stream. No byte takes more than the nine bits of a literal.
      const memory = new Uint8Array(length + Math.ceil((bytes.length * MAX_CODE_BITS) / 8) + 4)
      const window = memory.subarray(0, length)
      window.set(dictionary)
      window.set(bytes, dictionary.length)
      const writer = new BitWriter(memory.subarray(length))
      writer.write(BLOCK_HEADER, BLOCK_HEADER_BITS)
      finder ??= new MatchFinder(dictionary)
      finder.reset()
      for (let at = dictionary.length; at < length; ) {
        const match = finder.find(window, at)
        if (match === 0) {
          writer.writeSymbol(window[at++] ?? 0)
        } else {
          writeMatch(writer, match, finder.distance)
          finder.add(window, at + 1, at + match)
          at += match
        }
      }
      return writer.finish()
    },

    inflate: (stream, length) => inflateStream(dictionary, stream, length),
  }
}
