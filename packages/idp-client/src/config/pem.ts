/** PEM labels (RFC 7468) of the two kinds of key text that options and variables take. */
export type PemLabel = 'PRIVATE KEY' | 'PUBLIC KEY'

/** Variables often hold the line breaks of a PEM text as the two characters `\n`. */
export function unescapePem(text: string): string {
  return text.replaceAll('\\r', '').replaceAll('\\n', '\n').trim()
}

/**
 * Why `text` is no PEM text with this label, in words that continue the name of the setting; null when it is one.
 * Whether the bytes inside are a usable key shows only when it is imported, at the first use.
 */
export function pemFault(text: string, label: PemLabel): string | null {
  const found = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1]
  if (found === undefined) return `must be PEM text that begins with -----BEGIN ${label}-----`
  if (found === label) {
    const whole = new RegExp(`^-----BEGIN ${label}-----\\s+[A-Za-z0-9+/=\\s]+-----END ${label}-----$`)
    return whole.test(text) ? null : 'must be one complete PEM text, with its END line and base64 between'
  }
  if (label === 'PUBLIC KEY') return 'must be a public key in SPKI form (-----BEGIN PUBLIC KEY-----)'
  if (found === 'ENCRYPTED PRIVATE KEY') return 'must not be encrypted: give an unencrypted PKCS#8 key'
  return 'must be a PKCS#8 key (-----BEGIN PRIVATE KEY-----): openssl pkcs8 -topk8 -nocrypt converts it'
}
