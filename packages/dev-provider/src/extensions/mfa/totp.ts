import { createHmac, randomBytes } from 'node:crypto'

/** Seconds for which one code is shown. */
export const TOTP_STEP = 30
const DIGITS = 6
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret: 160 bits in base32, as authenticator apps take it. */
export function createTotpSecret(): string {
  return Array.from(randomBytes(32), (byte) => ALPHABET[byte % 32]).join('')
}

function decode(secret: string): Buffer {
  const bits = [...secret.toUpperCase().replace(/[\s=-]/g, '')]
    .map((character) => ALPHABET.indexOf(character).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Can the text be a secret? Blanks and dashes count for nothing. */
export function isTotpSecret(text: string): boolean {
  return /^[A-Z2-7\s=-]{16,}$/i.test(text)
}

/** The code of a point in time, in seconds since the epoch (RFC 6238 over RFC 4226, SHA-1). */
export function totp(secret: string, time: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(time / TOTP_STEP)))
  const hash = createHmac('sha1', decode(secret)).update(counter).digest()
  const offset = hash.readUInt8(hash.length - 1) & 0x0f
  const number = hash.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Is the code the current one, or one step early or late? */
export function matchesTotp(secret: string, code: string, time: number): boolean {
  return [0, -1, 1].some((steps) => totp(secret, time + steps * TOTP_STEP) === code)
}

/** What the QR code of an authenticator app holds. */
export function otpauthUri(secret: string, account: string, parameters: Record<string, string> = {}): string {
  const issuer = 'Development identity provider'
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = Object.entries({ secret, issuer, ...parameters })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return `otpauth://totp/${label}?${query}`
}
