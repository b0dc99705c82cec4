export { fromBase64url, toBase64url } from '#cipher'

/** The last characters whose unused bits are zero, by the number of characters in the last group of four. */
const LAST_CHARACTERS = [null, '', 'AQgw', 'AEIMQUYcgkosw048']

/** Returns whether `fromBase64url` can decode the text, without decoding it. */
export function isBase64url(text: string): boolean {
  const allowed = LAST_CHARACTERS[text.length % 4] ?? text
  return allowed.includes(text.slice(-1)) && /^[\w-]*$/.test(text)
}
