import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { processWide } from '../lib/registry.ts'
import { getProvider } from '../oidc/provider.ts'
import { endOfFormer, rememberedUntil } from '../session/former.ts'
import { endStreams } from '../session/open-streams.ts'

/** How many requests per second reach the session store: anybody can send them. */
const PER_SECOND = 20

/** How many ends per hour this process lets the store remember for the time of `takeOver`. */
const REMEMBERED_PER_HOUR = 1000
/** How long it remembers the others, in seconds. */
const REMEMBERED_SECONDS = 600

export interface FrontchannelLogoutInput {
  /** The provider's session id. */
  readonly sid: string
  /** The issuer that the request names; absent if it names none. */
  readonly iss?: string
  readonly correlationId: string
}

function refuse(detail: string): never {
  throw new IdpError('FRONTCHANNEL_LOGOUT_ERROR', { detail })
}

/** Throws `TOO_MANY_LOGOUTS` for more than `PER_SECOND` calls in one second of the clock, in this process. */
function assertNotTooMany(second: number): void {
  const recent = processWide('mark:frontchannel-logouts/1', () => ({ second, count: 0 }))
  if (recent.second !== second) Object.assign(recent, { second, count: 0 })
  recent.count += 1
  if (recent.count > PER_SECOND) throw new IdpError('TOO_MANY_LOGOUTS')
}

/**
 * Returns until when an end is remembered for sessions of a former library: of more than `REMEMBERED_PER_HOUR` only for a while,
 * because strangers could fill the store.
 */
function limitedUntil(until: number, now: number): number {
  const hour = Math.floor(now / 3600)
  const recent = processWide('mark:remembered-frontchannel-logouts/1', () => ({ hour, count: 0 }))
  if (recent.hour !== hour) Object.assign(recent, { hour, count: 0 })
  recent.count += 1
  return recent.count > REMEMBERED_PER_HOUR ? Math.min(until, now + REMEMBERED_SECONDS) : until
}

/**
 * Ends the session that an iframe of the provider names (OpenID Connect Front-Channel Logout 1.0 section 2). Nothing in the
 * request proves who sent it, so it ends the session with this `sid` at this issuer and nothing else; whether there was one is
 * not returned. Like a logout token, it is remembered for a login that is being completed. The refresh token is not revoked.
 *
 * Throws `FRONTCHANNEL_LOGOUT_ERROR`, `TOO_MANY_LOGOUTS`, `DiscoveryError`, `SESSION_STORE_FAILED`.
 */
export async function frontchannelLogout(
  { clientTag, config, sessionStore }: Engine,
  { correlationId, iss, sid }: FrontchannelLogoutInput,
): Promise<void> {
  if (iss === undefined && !config.frontChannelLogout?.isIssuerOptional)
    refuse("iss is missing, which frontChannelLogout: { issuer: 'optional' } allows.")
  // Before the metadata are loaded for a stranger.
  if (iss !== undefined && !config.provider.issuers.includes(iss)) refuse('iss is not the issuer.')
  assertNotTooMany(config.clock())
  const { issuer } = await getProvider(config).metadata()
  if (iss !== undefined && iss !== issuer) refuse('iss is not the issuer.')
  const store = await sessionStore?.()
  const tag = await clientTag()
  const iat = config.clock()
  if (config.takeOver) {
    const expiresAt = limitedUntil(rememberedUntil(config, config.takeOver.until), iat)
    await store?.rememberEnd({ ...endOfFormer(tag, { sid }), iat }, { expiresAt })
  }
  await store?.deleteByLogoutToken({ iss: issuer, sid, iat })
  await endStreams(({ clientTag: owner, session }) => owner === tag && session.data.internal.sid === sid)
  config.log.emit({ level: 'info', code: 'FRONTCHANNEL_LOGOUT', id: correlationId })
}
