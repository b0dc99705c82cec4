import type { Bytes } from '../lib/base64url.ts'
import { strictText, utf8 } from '../lib/base64url.ts'

/** One login that has begun and not ended: what the callback must know, sealed into a cookie of its own. */
export interface Transaction {
  /** Hash of the `state` that went to the provider. */
  readonly stateHash: string
  readonly responseType: 'code' | 'connect_code'
  readonly nonce: string
  readonly codeVerifier: string
  /** Byte for byte as it went to the provider. */
  readonly redirectUri: string
  readonly appBaseUrl: string
  /** Same-origin path; absent when it did not fit. */
  readonly returnTo?: string
  /** Seconds, when the login asked for it. */
  readonly maxAge?: number
  readonly scope?: string
  readonly audience?: string
  /** The organization that was asked for; a token that names another one is refused. */
  readonly organization?: string
  /** The provider answers by a cross-site POST, so the cookie is `SameSite=None`. */
  readonly crossSitePost?: true
  /** Seconds since the epoch. */
  readonly startedAt: number
  readonly expiresAt: number
  /** Tag of provider and client: a transaction of one provider never completes at another. */
  readonly client: string
}

const VERSION = 1

type Short = 'h' | 'k' | 'n' | 'c' | 'u' | 'b' | 'r' | 'm' | 's' | 'a' | 'g' | 'x' | 'i' | 'e' | 't'

/* Short names on the wire: five logins begun at once must fit into 3500 bytes of cookies. */
const SHORT = {
  stateHash: 'h',
  responseType: 'k',
  nonce: 'n',
  codeVerifier: 'c',
  redirectUri: 'u',
  appBaseUrl: 'b',
  returnTo: 'r',
  maxAge: 'm',
  scope: 's',
  audience: 'a',
  organization: 'g',
  crossSitePost: 'x',
  startedAt: 'i',
  expiresAt: 'e',
  client: 't',
} as const satisfies Record<keyof Transaction, Short>

const LONG = Object.fromEntries(Object.entries(SHORT).map(([long, short]) => [short, long]))

/** A redirect URI that begins with the base URL is stored as the rest of it. */
export function encodeTransaction(transaction: Transaction): Bytes {
  const wire: Record<string, unknown> = { v: VERSION }
  for (const [long, short] of Object.entries(SHORT)) {
    const value = transaction[long as keyof Transaction]
    if (value !== undefined) wire[short] = value
  }
  const { redirectUri, appBaseUrl } = transaction
  if (redirectUri.startsWith(`${appBaseUrl}/`)) wire[SHORT.redirectUri] = redirectUri.slice(appBaseUrl.length)
  if (transaction.responseType === 'code') delete wire[SHORT.responseType]
  return utf8(JSON.stringify(wire))
}

const TEXTS = ['stateHash', 'nonce', 'codeVerifier', 'redirectUri', 'appBaseUrl', 'client'] as const

/** The transaction in opened bytes; null when they hold none of a version that we know. Never throws. */
export function decodeTransaction(bytes: Bytes): Transaction | null {
  try {
    const wire: Record<string, unknown> = JSON.parse(strictText(bytes))
    if (wire['v'] !== VERSION) return null
    const known = Object.entries(wire).flatMap(([short, value]) => {
      const long = LONG[short]
      return long === undefined ? [] : [[long, value] as const]
    })
    const fields = { responseType: 'code', ...Object.fromEntries(known) } as unknown as Transaction
    if (!TEXTS.every((name) => typeof fields[name] === 'string')) return null
    if (!Number.isFinite(fields.expiresAt) || !Number.isFinite(fields.startedAt)) return null
    const { redirectUri, appBaseUrl } = fields
    return redirectUri.startsWith('/') ? { ...fields, redirectUri: appBaseUrl + redirectUri } : fields
  } catch {
    return null
  }
}
