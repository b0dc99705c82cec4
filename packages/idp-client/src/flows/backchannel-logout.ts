import type { SessionDataStore } from '../config/options.ts'
import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { LogoutTokenError } from '../errors/logout-token.ts'
import type { LogoutNotice } from '../oidc/logout-token.ts'
import { validateLogoutToken } from '../oidc/logout-token.ts'
import { getProvider } from '../oidc/provider.ts'
import { rememberEnd } from '../session/store/ended-at-provider.ts'
import { deleteForGood } from '../session/store/guarded-store.ts'
import { processOnce } from '../session/store/process-once.ts'

export interface BackchannelLogoutInput {
  /** Reads the token; not asked where no notification can be obeyed. */
  readonly logoutToken: () => Promise<string>
  readonly correlationId: string
}

type Deleting = SessionDataStore & Required<Pick<SessionDataStore, 'deleteByLogoutToken'>>

function isDeleting(store: SessionDataStore | undefined): store is Deleting {
  return store?.deleteByLogoutToken !== undefined
}

/** The name under which a token counts once, whatever else is remembered beside it. */
async function toReplayKey({ config }: Engine, { iss, jti }: LogoutNotice): Promise<string> {
  return `logout.${await hashToken(JSON.stringify([iss, config.clientId, jti]), 32)}`
}

/**
 * Ends the sessions that the provider says are over (OIDC Back-Channel Logout 1.0).
 * 1. Without a store that can find them nothing is read.
 * 2. The token is validated.
 * 3. The end is remembered, for a login that is being completed, and the store deletes: the session of `sid`, else all of
 *    `sub` that began before the token was issued. A token counts once it was obeyed, not before, so that
 *    the provider can repeat what failed, and nobody can end a later session with it.
 *
 * Throws `LogoutTokenError`, `DiscoveryError`, `SESSION_STORE_FAILED`.
 */
export async function backchannelLogout(engine: Engine, input: BackchannelLogoutInput): Promise<void> {
  const { config } = engine
  const { sessionStore: store } = config
  if (!isDeleting(store)) throw new LogoutTokenError('BACKCHANNEL_LOGOUT_NOT_SUPPORTED')
  const notice = await validateLogoutToken(getProvider(config), await input.logoutToken())
  const { endsAt: expiresAt, jti: _jti, ...token } = notice
  const order = { name: await toReplayKey(engine, notice), expiresAt, now: config.clock() }
  // First: a login that is being completed asks for it once its session is stored.
  rememberEnd(store, token, config.clock())
  const obeyed = await processOnce(store, order, () =>
    deleteForGood(config, store, 'logout', () => store.deleteByLogoutToken(token)),
  )
  if (!obeyed) throw new LogoutTokenError('LOGOUT_TOKEN_REPLAYED')
  const ended = token.sid === undefined ? 'user' : 'session'
  config.log.emit({ level: 'info', code: 'BACKCHANNEL_LOGOUT', id: input.correlationId, ended })
}
