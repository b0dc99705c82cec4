import type { Config } from '../../config/config.ts'
import { fieldName, SessionStoreError } from '../../errors/session.ts'
import type { NamedValue } from '../../http/chunks.ts'
import type { CookieAttributes } from '../../http/cookie-jar.ts'
import { utf8Length } from '../../lib/utf8.ts'
import type { FurtherToken } from '../model/further-tokens.ts'
import { dispensableTokens, toLabel, withoutTokens } from '../model/further-tokens.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'

/** The cookies of one session. */
export interface ComposedSession {
  readonly session: StoredSession
  readonly attributes: CookieAttributes
  /** Null if there are more than are read from a request. */
  readonly cookies: readonly NamedValue[] | null
  /** Total size in bytes, including the names. */
  readonly bytes: number
}

/** Factor by which a write after a redemption may exceed `maxBytes` before the main access token is left out, too. */
const OVERDRAFT = 1.5

const OFTEN_FULL =
  'A session has reached session.cookie.maxBytes. Tokens that its refresh token can bring again are not kept in its ' +
  'cookies, and every call that needs one of them asks the provider.'

/** Returns the session without its main access token, which the next call that needs it refreshes. */
function withoutMainToken(session: StoredSession): StoredSession {
  return { ...session, data: { ...session.data, tokenSet: { ...session.data.tokenSet, accessToken: '' } } }
}

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
  /** Whether to throw instead of exceeding the limit, because a failed write loses no tokens. */
  readonly mustFit: boolean
}

/**
 * Returns the cookies of a session that exceeds `session.cookie.maxBytes`, without tokens that its refresh token can obtain
 * again. A session that is still too large is written anyway, unless it `mustFit`: a rotated refresh token would be
 * lost. Throws `SESSION_TOO_LARGE`.
 */
export async function fitIntoCookies(
  given: ComposedSession,
  { compose, config, mustFit }: Fitting,
): Promise<ComposedSession & { readonly cookies: readonly NamedValue[] }> {
  const limit = config.session.cookie.maxBytes
  const exceeds = ({ bytes, cookies }: ComposedSession, most: number): boolean => !cookies || bytes > most
  const leftOut = new Set<FurtherToken>()
  let composed = given
  for (const token of dispensableTokens(given.session, config.clock())) {
    if (!exceeds(composed, limit)) break
    leftOut.add(token)
    composed = await compose(withoutTokens(given.session, leftOut))
  }
  const names = [...leftOut].map(toLabel)
  if (mustFit && exceeds(composed, limit)) throw tooLarge(composed, limit)
  const { accessToken, refreshToken } = composed.session.data.tokenSet
  if (refreshToken && accessToken && exceeds(composed, limit * OVERDRAFT)) {
    composed = await compose(withoutMainToken(composed.session))
    names.push('access token')
  }
  const { bytes, cookies } = composed
  if (!cookies) throw tooLarge(composed, limit)
  const level = bytes > limit ? 'warn' : 'info'
  config.log.emit({ level, code: 'SESSION_AT_LIMIT', leftOut: names, bytes, limit })
  config.log.once(OFTEN_FULL, 'SESSION_TOO_LARGE')
  return { ...composed, cookies }
}
