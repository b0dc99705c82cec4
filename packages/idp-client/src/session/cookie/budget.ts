import type { Config } from '../../config/config.ts'
import { fieldName, SessionStoreError } from '../../errors/session.ts'
import type { NamedValue } from '../../http/chunks.ts'
import { OVERDRAFT_BYTES } from '../../http/cookie-budget.ts'
import { defined } from '../../lib/objects.ts'
import { utf8Length } from '../../lib/utf8.ts'
import { besideEarlierIdToken } from '../model/authentication.ts'
import type { FurtherToken } from '../model/further-tokens.ts'
import { dispensableTokens, toLabel, withoutTokens } from '../model/further-tokens.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type { ProcessMemory } from '../storage.ts'
import { reportDetails, withoutDetails } from './granted-details.ts'

/** The cookies of one session. */
export interface ComposedSession {
  readonly session: StoredSession
  /** Null if there are more than are read from a request. */
  readonly cookies: readonly NamedValue[] | null
  /** Total size in bytes, including names and separators. */
  readonly bytes: number
}

export type FittingSession = ComposedSession & { readonly cookies: readonly NamedValue[] }

const OFTEN_FULL =
  'A session has reached session.cookie.maxBytes. Tokens that its refresh token can bring again are not kept in its ' +
  'cookies, and every call that needs one of them asks the provider.'

/** Returns the size of each property as JSON, in bytes, the largest first. */
function fieldBytes(data: SessionData): Record<string, number> {
  const sizes = Object.entries(data).flatMap(([field, value]) =>
    field === 'user' || field === 'tokenSet'
      ? Object.entries(value as object).map(
          ([name, inner]) => [`${field}.${name}`, measureSize(inner)] as const,
        )
      : [[field, measureSize(value)] as const],
  )
  return Object.fromEntries(sizes.sort(([, a], [, b]) => b - a))
}

function measureSize(value: unknown): number {
  const json = JSON.stringify(value)
  return json === undefined ? 0 : utf8Length(json)
}

function tooLarge({ bytes, session }: ComposedSession, limit: number): SessionStoreError {
  const fields = fieldBytes(session.data)
  const largest = Object.entries(fields).slice(0, 5)
  const named = largest.map(([name, size]) => `${fieldName(name)} ${size}`).join(', ')
  const detail = `It takes ${bytes} of ${limit} bytes; largest: ${named}.`
  return new SessionStoreError('SESSION_TOO_LARGE', { bytes, fields, detail })
}

export interface Fitting {
  readonly config: Config
  readonly compose: (session: StoredSession) => Promise<ComposedSession>
  /** Whether to throw instead of leaving out more than tokens, because a failed write loses no refresh token. */
  readonly mustFit: boolean
  /** Whether a login creates the session: its user has approved already, so that details are left out rather than nothing is written. */
  readonly isNew: boolean
  readonly memory: ProcessMemory | undefined
  /** The session of the request as it was last written, null without one. */
  readonly lastWritten: StoredSession | null
}

const exceeds = ({ bytes, cookies }: ComposedSession, most: number): boolean => !cookies || bytes > most

/** A session with less content, and the names of what it lacks. */
interface Reduced {
  readonly session: StoredSession
  readonly leftOut: readonly string[]
  /** Level of the event, if the session fits into `session.cookie.maxBytes`. */
  readonly level: 'info' | 'warn'
}

function report(
  config: Config,
  { bytes }: ComposedSession,
  { leftOut, level }: Omit<Reduced, 'session'>,
): void {
  const limit = config.session.cookie.maxBytes
  const effective = bytes > limit ? 'warn' : level
  config.log.emit({ level: effective, code: 'SESSION_AT_LIMIT', leftOut, bytes, limit })
  config.log.once(OFTEN_FULL, 'SESSION_TOO_LARGE')
}

/** Leaves out as many further tokens as necessary. */
async function withoutFurtherTokens(given: ComposedSession, { compose, config }: Fitting) {
  const leftOut = new Set<FurtherToken>()
  let composed = given
  for (const token of dispensableTokens(given.session, config.clock())) {
    if (!exceeds(composed, config.session.cookie.maxBytes)) break
    leftOut.add(token)
    composed = await compose(withoutTokens(given.session, leftOut))
  }
  return { composed, leftOut: [...leftOut].map(toLabel) }
}

/** Leaves out the main access token, which stays in this process until it expires. */
function withoutMainToken({ config, memory }: Fitting, session: StoredSession): Reduced | null {
  const { data } = session
  if (!data.tokenSet.accessToken) return null
  memory?.keepMainToken(config, session)
  const { authorizationDetails: _kept, ...others } = data.tokenSet
  const tokenSet = { ...others, accessToken: '' }
  return { session: { ...session, data: { ...data, tokenSet } }, leftOut: ['access token'], level: 'info' }
}

/** Leaves out a new ID token and its claims: the earlier ones stay. */
function withEarlierIdToken(session: StoredSession, written: StoredSession): Reduced | null {
  const { idToken } = written.data.tokenSet
  if (idToken === session.data.tokenSet.idToken) return null
  const { idToken: _new, ...tokens } = session.data.tokenSet
  const { internal, user } = written.data
  const tokenSet = { ...tokens, ...defined({ idToken }) }
  const data = { ...session.data, internal, user, tokenSet }
  const authentication = besideEarlierIdToken(session, written)
  return { session: { ...session, data, authentication }, leftOut: ['new ID token'], level: 'warn' }
}

/** Returns an earlier session with the new refresh token, and without any other token. */
function withoutOtherTokens(session: StoredSession, written: StoredSession): Reduced {
  const { data, usedAt } = session
  const { accessTokens: _access, connectionTokenSets: _connections, ...others } = written.data
  const {
    authorizationDetails: _details,
    idToken: _id,
    refreshToken: _older,
    ...tokens
  } = written.data.tokenSet
  const { refreshToken } = data.tokenSet
  const tokenSet = { ...tokens, accessToken: '', ...defined({ refreshToken }) }
  const authentication = besideEarlierIdToken(session, written)
  const reduced = { ...written, data: { ...others, tokenSet } as SessionData, usedAt, authentication }
  return { session: reduced, leftOut: ['all other tokens'], level: 'warn' }
}

/** Returns what a write after a redemption leaves out beyond further tokens, one after the other. */
function listReductions(fitting: Fitting, given: StoredSession, written: StoredSession) {
  if (!given.data.tokenSet.refreshToken) return []
  return [
    (session: StoredSession) => withoutMainToken(fitting, session),
    (session: StoredSession) => withEarlierIdToken(session, written),
    (session: StoredSession) => withoutOtherTokens(session, written),
    // The new claims may be fewer.
    (session: StoredSession) => withoutOtherTokens(session, given),
  ]
}

/**
 * Reduces a session with a refresh token until it fits. Throws `SESSION_TOO_LARGE` if the new refresh token is so large that
 * nothing helps: the browser could not send its cookies, not even to log out.
 */
async function reduce(given: ComposedSession, fitting: Fitting) {
  const { compose, config, lastWritten } = fitting
  const most = config.session.cookie.maxBytes + OVERDRAFT_BYTES
  const written = lastWritten?.sessionKey === given.session.sessionKey ? lastWritten : given.session
  let composed = given
  for (const step of listReductions(fitting, given.session, written)) {
    const reduced = exceeds(composed, most) && step(composed.session)
    const next = reduced && (await compose(reduced.session))
    if (!next || (composed.cookies && next.bytes >= composed.bytes)) continue
    reportLostDetails(config, composed.session, next.session)
    composed = next
    report(config, composed, reduced)
  }
  // A session that was written with a higher limit may stay as large as it is.
  const isLarger = exceeds(composed, most) && composed.bytes > (await compose(written)).bytes
  if (isLarger) throw tooLarge(composed, most)
  return composed
}

/** Reports granted details that go with the main access token. */
function reportLostDetails(config: Config, before: StoredSession, after: StoredSession): void {
  if (after.data.tokenSet.authorizationDetails) return
  const { leftOut } = withoutDetails(before, 0)
  const ofMainToken = leftOut.filter(({ audience }) => audience === undefined)
  reportDetails(config, ofMainToken, config.session.cookie.maxBytes)
}

/** Leaves out all granted details if the session fits without them; throws `SESSION_TOO_LARGE` if it does not. */
async function fitWithoutDetails(given: ComposedSession, { compose, config }: Fitting) {
  const limit = config.session.cookie.maxBytes
  const { leftOut, session } = withoutDetails(given.session, 0)
  const composed = leftOut.length > 0 ? await compose(session) : given
  if (exceeds(composed, limit)) throw tooLarge(given, limit)
  reportDetails(config, leftOut, limit)
  return composed
}

/**
 * Returns the cookies of a session that exceeds `session.cookie.maxBytes`, without tokens that its refresh token can obtain
 * again. If it must fit, throws `SESSION_TOO_LARGE`, for a new one only if it does not fit without granted details. Otherwise it
 * may take `OVERDRAFT_BYTES` more, and what the browser has is kept instead of what is new, because a rotated refresh token would
 * be lost.
 */
export async function fitIntoCookies(given: ComposedSession, fitting: Fitting): Promise<FittingSession> {
  const { config, isNew, mustFit } = fitting
  const limit = config.session.cookie.maxBytes
  const { composed: fewer, leftOut } = await withoutFurtherTokens(given, fitting)
  const isTooLarge = mustFit && exceeds(fewer, limit)
  if (isTooLarge && !isNew) throw tooLarge(fewer, limit)
  const composed = isTooLarge ? await fitWithoutDetails(fewer, fitting) : fewer
  const isReduced = !mustFit && exceeds(composed, limit + OVERDRAFT_BYTES)
  if (leftOut.length > 0 || !isReduced) report(config, composed, { leftOut, level: 'info' })
  const fitted = isReduced ? await reduce(composed, fitting) : composed
  const { cookies } = fitted
  if (!cookies) throw tooLarge(fitted, limit)
  return { ...fitted, cookies }
}
