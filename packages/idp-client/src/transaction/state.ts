import { randomToken } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { SafeReturnPath } from '../http/return-path.ts'
import { safeReturnPath } from '../http/return-path.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { defined } from '../lib/defined.ts'
import type { Bytes } from '../lib/utf8.ts'
import { strictText, utf8, utf8Length } from '../lib/utf8.ts'

/** Data in the `state` of a login or connection, available without its transaction cookie. */
export interface StateNote {
  /** Seconds since the epoch. */
  readonly issuedAt: number
  /** Host of the base URL at its start. */
  readonly host: string
  /** Host name of the request that started it; absent if it is that of the base URL. Only explains a missing transaction. */
  readonly requestHost?: string
  /** Absent if it is long. */
  readonly returnTo?: SafeReturnPath
  /** The login must not be restarted automatically: it was restarted before, or it is in a popup. */
  readonly noRestart?: true
}

const RETURN_TO_BYTES = 256
const RANDOM_CHARACTERS = 43
/* 32 random bytes in base64url, then a dot and the sealed note. */
const FORM = /^[\w-]{43}\./

/** Creates a `state`: 256 random bits, and a note that is encrypted. */
export function createState(sealer: Sealer, note: StateNote): MaybePromise<string> {
  const { issuedAt, host, noRestart, requestHost, returnTo } = note
  const kept = returnTo !== undefined && utf8Length(returnTo) <= RETURN_TO_BYTES ? { r: returnTo } : {}
  const seen = requestHost === undefined ? {} : { h: requestHost }
  const flags = noRestart ? { a: 1 } : {}
  const json = JSON.stringify({ v: 1, i: issuedAt, o: host, ...seen, ...kept, ...flags })
  return chain(sealer.seal('state', utf8(json)), (sealed) => `${randomToken(32)}.${sealed}`)
}

/** Decrypts the note of a state. Returns null if it was not issued here; never throws. */
export function decryptState(sealer: Sealer, state: string): MaybePromise<StateNote | null> {
  if (!FORM.test(state)) return null
  const opened = sealer.open('state', state.slice(RANDOM_CHARACTERS + 1))
  return chain(opened, (bytes) => bytes && decodeNote(bytes))
}

function decodeNote(bytes: Bytes): StateNote | null {
  try {
    const { v, i, o, h, r, a } = JSON.parse(strictText(bytes)) as Record<string, unknown>
    if (v !== 1 || typeof i !== 'number' || typeof o !== 'string') return null
    const returnTo = safeReturnPath(r, `https://${o}`)
    return defined({
      issuedAt: i,
      host: o,
      requestHost: typeof h === 'string' ? h : undefined,
      returnTo: returnTo === null ? undefined : returnTo,
      noRestart: a === 1 ? true : undefined,
    })
  } catch {
    return null
  }
}
