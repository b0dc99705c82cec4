import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { LogoutTokenError } from '../errors/logout-token.ts'
import { validateLogoutToken } from '../oidc/logout-token.ts'
import { getProvider } from '../oidc/provider.ts'
import { isEndedBy } from '../session/ended-by.ts'
import { rememberFormerEnd } from '../session/former.ts'
import { endStreams } from '../session/open-streams.ts'
import { toOwner } from '../session/store/record.ts'

export interface BackchannelLogoutInput {
  /** Reads the token; called only if the store supports back-channel logout. */
  readonly logoutToken: () => Promise<string>
  readonly correlationId: string
}

/**
 * Ends the sessions that a logout token names (OIDC Back-Channel Logout 1.0 section 2.6):
 * 1. checks that the store can delete by logout token, before anything is read;
 * 2. validates the token;
 * 3. records the end, for a login that is being completed, and deletes the session of `sid`, or every session of `sub`
 *    that began before the token was issued. With `takeOver` the end is remembered for as long as sessions are taken over. The
 *    `jti` is recorded as used only after the deletion, so that the provider can retry after a failure and a replay cannot end a
 *    later session.
 *
 * Throws `LogoutTokenError`, `DiscoveryError`, `SESSION_STORE_FAILED`.
 */
export async function backchannelLogout(engine: Engine, input: BackchannelLogoutInput): Promise<void> {
  const { config } = engine
  const store = await engine.sessionStore?.()
  if (!store?.supports('deleteByLogoutToken')) throw new LogoutTokenError('BACKCHANNEL_LOGOUT_NOT_SUPPORTED')
  const notice = await validateLogoutToken(getProvider(config), await input.logoutToken())
  const { endsAt: expiresAt, jti, ...token } = notice
  const replayKey = `logout.${await hashToken(JSON.stringify([token.iss, config.clientId, jti]), 32)}`
  const tag = await engine.clientTag()
  const isFirstUse = await store.once(replayKey, { expiresAt }, async () => {
    await rememberFormerEnd(engine, store, token)
    await store.deleteByLogoutToken(token)
  })
  if (!isFirstUse) throw new LogoutTokenError('LOGOUT_TOKEN_REPLAYED')
  await endStreams(({ clientTag, session }) => clientTag === tag && isEndedBy(toOwner(session), token))
  const ended = token.sid === undefined ? 'user' : 'session'
  config.log.emit({ level: 'info', code: 'BACKCHANNEL_LOGOUT', id: input.correlationId, ended })
}
