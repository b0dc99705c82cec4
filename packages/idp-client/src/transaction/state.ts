import type { Config } from '../config/config.ts'
import type { RequestPlace } from '../config/request-host.ts'
import { randomToken } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import { CallbackError } from '../errors/callback.ts'
import { registeredError } from '../errors/protocol-errors.ts'
import type { SafeReturnPath } from '../http/return-path.ts'
import { safeReturnPath } from '../http/return-path.ts'
import { decodeJsonObject } from '../lib/json.ts'
import { defined } from '../lib/objects.ts'
import { utf8, utf8Length } from '../lib/utf8.ts'
import type { TransactionLookup } from './in-cookie.ts'

/** Data in the `state` of a login or connection, available without its transaction cookie: also where it started. */
export interface StateNote extends RequestPlace {
  /** Seconds since the epoch. */
  readonly issuedAt: number
  /** Absent if it is long. */
  readonly returnTo?: SafeReturnPath
  /** The login must not be restarted automatically: it was restarted before, or it is in a popup. */
  readonly noRestart?: true
}

const RETURN_TO_BYTES = 256
/* 32 random bytes in base64url; a dot and the sealed note follow. */
const RANDOM_CHARACTERS = 43

/** Creates a `state`: 256 random bits, and a note that is encrypted. */
export async function createState(sealer: Sealer, note: StateNote): Promise<string> {
  const { issuedAt, host, noRestart, requestHost, returnTo } = note
  const json = JSON.stringify({
    v: 1,
    i: issuedAt,
    o: host,
    h: requestHost,
    r: utf8Length(returnTo ?? '') <= RETURN_TO_BYTES ? returnTo : undefined,
    a: noRestart ? 1 : undefined,
  })
  return `${randomToken(32)}.${await sealer.seal('state', utf8(json))}`
}

/** Decrypts the note of a state. Returns null if it was not issued here; never throws. */
export async function decryptState(sealer: Sealer, state: string): Promise<StateNote | null> {
  const bytes = await sealer.open('state', state.slice(RANDOM_CHARACTERS + 1))
  const { v, i, o, h, r, a } = decodeJsonObject(bytes) ?? {}
  if (v !== 1 || typeof i !== 'number' || typeof o !== 'string') return null
  return defined({
    issuedAt: i,
    host: o,
    requestHost: typeof h === 'string' ? h : undefined,
    returnTo: safeReturnPath(r, `https://${o}`) ?? undefined,
    noRestart: a === 1 ? true : undefined,
  })
}

/** Some providers send an error without the state, so the error is what explains the callback. */
function missingState(parameters: URLSearchParams): CallbackError {
  const error = parameters.get('error')
  if (!error) return new CallbackError('MISSING_STATE')
  const registered = registeredError(error)
  const name = registered === 'other' ? 'an unregistered error code' : `the error ${registered}`
  return new CallbackError('MISSING_STATE', {
    detail: `It has ${name}: a provider may omit the state of an error.`,
  })
}

/** Returns the `state` of a callback and its note. Throws `MISSING_STATE`, or `UNKNOWN_STATE` if it was not issued here. */
export async function verifyState(
  sealer: Sealer,
  parameters: URLSearchParams,
): Promise<{ state: string; note: StateNote }> {
  const [state, ...others] = parameters.getAll('state')
  if (!state) throw missingState(parameters)
  const note = others.length === 0 ? await decryptState(sealer, state) : null
  if (!note) throw new CallbackError('UNKNOWN_STATE')
  return { state, note }
}

/**
 * Returns the error for a state whose transaction is missing. `otherHost`: the login started at another host than that of
 * the callback.
 */
export function toMissingTransactionError(
  config: Config,
  note: StateNote,
  lookup: TransactionLookup,
  otherHost: boolean,
): CallbackError {
  if (lookup.kind === 'superseded') return new CallbackError('SUPERSEDED_STATE')
  const isExpired = note.issuedAt + config.transaction.cookie.maxAge <= config.clock()
  if (lookup.kind === 'expired' || isExpired) return new CallbackError('EXPIRED_STATE')
  return new CallbackError(otherHost ? 'STATE_HOST_MISMATCH' : 'UNKNOWN_STATE')
}
