// The few pieces of DER (ITU-T X.690) that a certificate is written in.

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.of(size)
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.of(0x80 | bytes.length, ...bytes)
}

/** A value under its tag; several contents are put one after the other. */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), length(content.length), content])
}

export function sequence(...contents: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...contents)
}

export function set(...contents: readonly Uint8Array[]): Buffer {
  return tagged(0x31, ...contents)
}

/** An unsigned number of any size. */
export function integer(bytes: Uint8Array): Buffer {
  const negative = ((bytes[0] ?? 0) & 0x80) !== 0
  return tagged(0x02, negative ? Buffer.concat([Buffer.of(0), bytes]) : bytes)
}

export function bool(value: boolean): Buffer {
  return tagged(0x01, Buffer.of(value ? 0xff : 0))
}

export function octets(content: Uint8Array): Buffer {
  return tagged(0x04, content)
}

export function bits(content: Uint8Array, unused = 0): Buffer {
  return tagged(0x03, Buffer.of(unused), content)
}

export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text))
}

/** A date before the year 2050. */
export function utcTime(date: Date): Buffer {
  const text = date
    .toISOString()
    .replace(/[-:T]|\.\d+/g, '')
    .slice(2)
  return tagged(0x17, Buffer.from(text, 'ascii'))
}

/** An object identifier such as `2.5.29.17`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const arc of rest) {
    const septets = [arc % 128]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      septets.unshift(0x80 | (left % 128))
    }
    bytes.push(...septets)
  }
  return tagged(0x06, Buffer.from(bytes))
}
