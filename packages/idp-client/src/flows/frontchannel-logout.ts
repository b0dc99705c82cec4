import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { processWide } from '../lib/registry.ts'
import { getProvider } from '../oidc/provider.ts'
import { endStreams } from '../session/open-streams.ts'

/** How many requests per second reach the session store: anybody can send them. */
const PER_SECOND = 20

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
  await store?.deleteByLogoutToken({ iss: issuer, sid, iat: config.clock() })
  const tag = await clientTag()
  await endStreams(({ clientTag: owner, session }) => owner === tag && session.data.internal.sid === sid)
  config.log.emit({ level: 'info', code: 'FRONTCHANNEL_LOGOUT', id: correlationId })
}
