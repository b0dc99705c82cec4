import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { processWide, processWideFor } from '../lib/registry.ts'
import { getProvider } from '../oidc/provider.ts'
import { rememberFormerEnd } from '../session/former.ts'
import { endStreams } from '../session/open-streams.ts'

/** How many requests per second reach the session store: anybody can send them. */
const PER_SECOND = 20

/** How many ends per hour a client lets the store remember for the time of `takeOver`. */
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

/** Calls in one period of the clock. */
interface Calls {
  period: number
  count: number
}

const recent = (): Calls => processWide('mark:frontchannel-logouts/2', () => ({ period: 0, count: 0 }))
const remembered = ({ config }: Engine): Calls =>
  processWideFor('mark:remembered-frontchannel-logouts/3', config, () => ({ period: 0, count: 0 }))

/** Counts a call, and returns how many there have been in its period. */
function countCall(calls: Calls, period: number): number {
  calls.count = calls.period === period ? calls.count + 1 : 1
  calls.period = period
  return calls.count
}

/**
 * Ends the session that an iframe of the provider names (OpenID Connect Front-Channel Logout 1.0 section 2). Nothing in the
 * request proves who sent it, so it ends the session with this `sid` at this issuer and nothing else; whether there was one is
 * not returned. Like a logout token, it is remembered for a login that is being completed. The refresh token is not revoked.
 *
 * Throws `FRONTCHANNEL_LOGOUT_ERROR`, `TOO_MANY_LOGOUTS`, `DiscoveryError`, `SESSION_STORE_FAILED`.
 */
export async function frontchannelLogout(
  engine: Engine,
  { correlationId, iss, sid }: FrontchannelLogoutInput,
): Promise<void> {
  const { config, sessionStore } = engine
  if (iss === undefined && !config.frontChannelLogout?.isIssuerOptional)
    refuse("iss is missing, which frontChannelLogout: { issuer: 'optional' } allows.")
  // Before the metadata are loaded for a stranger.
  if (iss !== undefined && !config.provider.issuers.includes(iss)) refuse('iss is not the issuer.')
  if (countCall(recent(), config.clock()) > PER_SECOND) throw new IdpError('TOO_MANY_LOGOUTS')
  const { issuer } = await getProvider(config).metadata()
  if (iss !== undefined && iss !== issuer) refuse('iss is not the issuer.')
  const store = await sessionStore?.()
  const tag = await engine.clientTag()
  const iat = config.clock()
  // Strangers could fill the store.
  const isMany = countCall(remembered(engine), Math.floor(iat / 3600)) > REMEMBERED_PER_HOUR
  await rememberFormerEnd(engine, store, { sid, iat }, isMany ? iat + REMEMBERED_SECONDS : undefined)
  await store?.deleteByLogoutToken({ iss: issuer, sid, iat })
  await endStreams(({ clientTag: owner, session }) => owner === tag && session.data.internal.sid === sid)
  config.log.emit({ level: 'info', code: 'FRONTCHANNEL_LOGOUT', id: correlationId })
}
