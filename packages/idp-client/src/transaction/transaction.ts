import type { SafeReturnPath } from '../http/return-path.ts'
import { safeReturnPath } from '../http/return-path.ts'
import { decodeJsonObject } from '../lib/json.ts'
import { defined } from '../lib/objects.ts'
import type { Bytes } from '../lib/utf8.ts'
import { utf8 } from '../lib/utf8.ts'

/** Properties of every transaction: data for the callback, encrypted in a cookie. */
interface TransactionBase {
  /** Hash of the `state` of the authorization request. */
  readonly stateHash: string
  readonly codeVerifier: string
  /** Byte for byte as in the authorization request. */
  readonly redirectUri: string
  readonly appBaseUrl: string
  /** Absent if it did not fit. */
  readonly returnTo?: SafeReturnPath
  /** The provider responds with a cross-site POST, so the cookie is `SameSite=None`. */
  readonly crossSitePost?: true
  /** Seconds since the epoch. */
  readonly startedAt: number
  readonly expiresAt: number
  /** Tag of provider and client: a transaction of one provider never completes at another. */
  readonly clientTag: string
}

export interface LoginTransaction extends TransactionBase {
  readonly responseType: 'code'
  readonly nonce: string
  /** Seconds, if the login requested it. */
  readonly maxAge?: number
  readonly scope?: string
  readonly audience?: string
  /** The requested organization; a token that does not name it is rejected. */
  readonly organization?: string
  /** The scope beyond the configured one that the application requested, not a login link. */
  readonly ownScope?: string
  /** A login link chose a part of the scope, or the audience. */
  readonly fromLink?: true
  /** Fingerprints as in `StoredSession`; absent if every login requests the same. */
  readonly requestedAuthentication?: string
  /** The `acr_values` that the application requested, if others are configured or none. */
  readonly requestedAcr?: string
  /** Its parameters are allowed only for a step-up of the existing session: without a session the login fails. */
  readonly stepUpOnly?: true
  /** Set for a login in a popup: name of the channel on which the opener waits, or an empty string. */
  readonly popup?: string
}

/** The connection of an account at another provider to the user of a session. */
export interface ConnectTransaction extends TransactionBase {
  readonly responseType: 'connect_code'
  /** The account API's id of the attempt. */
  readonly authSession: string
  /** Key of the session that started it. No other session can complete it. */
  readonly sessionKey: string
  /** Hash of the user's `sub` at the start: an application may put another user into a session. */
  readonly user: string
}

export type Transaction = LoginTransaction | ConnectTransaction

type Field = keyof LoginTransaction | keyof ConnectTransaction

const VERSION = 1

/* Short names in the encoded form: five concurrent logins must fit into 3500 bytes of cookies. */
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
  clientTag: 't',
  authSession: 'w',
  sessionKey: 'l',
  user: 'j',
  ownScope: 'o',
  fromLink: 'd',
  stepUpOnly: 'z',
  requestedAuthentication: 'q',
  requestedAcr: 'y',
  popup: 'p',
} as const satisfies Record<Field, string>

const FIELDS = Object.entries(SHORT) as [Field, string][]

/** Encodes a transaction, without the properties `leftOut`. Of a redirect URI below the base URL, only the rest is stored. */
export function encodeTransaction(transaction: Transaction, leftOut: readonly Field[] = []): Bytes {
  const { redirectUri, appBaseUrl, responseType } = transaction
  const isBelow = redirectUri.startsWith(`${appBaseUrl}/`)
  const values: Record<string, unknown> = {
    ...transaction,
    redirectUri: isBelow ? redirectUri.slice(appBaseUrl.length) : redirectUri,
    responseType: responseType === 'code' ? undefined : responseType,
  }
  const wire: Record<string, unknown> = { v: VERSION }
  for (const [long, short] of FIELDS) if (!leftOut.includes(long)) wire[short] = values[long]
  return utf8(JSON.stringify(wire))
}

const COMMON = ['stateHash', 'codeVerifier', 'redirectUri', 'appBaseUrl', 'clientTag']

/** Required string properties of each kind. Other kinds are of a later version. */
const REQUIRED_STRINGS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['code', [...COMMON, 'nonce']],
  ['connect_code', [...COMMON, 'authSession', 'sessionKey', 'user']],
])

/** Decodes a transaction. Returns null for another version or invalid bytes; never throws. */
export function decodeTransaction(bytes: Bytes): Transaction | null {
  const wire = decodeJsonObject(bytes)
  if (wire?.['v'] !== VERSION) return null
  const fields: Record<string, unknown> = { responseType: 'code' }
  for (const [long, short] of FIELDS) if (Object.hasOwn(wire, short)) fields[long] = wire[short]
  const { returnTo: target, ...rest } = fields
  const required = REQUIRED_STRINGS.get(fields['responseType'])
  if (!required?.every((name) => typeof fields[name] === 'string')) return null
  const transaction = rest as unknown as Transaction
  const { appBaseUrl, expiresAt, redirectUri, startedAt } = transaction
  if (!Number.isFinite(expiresAt) || !Number.isFinite(startedAt)) return null
  return defined({
    ...transaction,
    redirectUri: redirectUri.startsWith('/') ? appBaseUrl + redirectUri : redirectUri,
    returnTo: safeReturnPath(target, appBaseUrl) ?? undefined,
  })
}
