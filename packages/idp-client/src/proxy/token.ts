import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { defined } from '../lib/objects.ts'
import { asIdpError } from '../log/failure.ts'
import { reportRefusal } from '../log/refusal.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import { replacementToken } from '../tokens/replacement.ts'
import { isBackground } from './admission.ts'
import type { ProxyConfig } from './options.ts'

/** The user of one proxied request. */
export interface Caller {
  readonly engine: Engine
  readonly clientTag: string
  readonly exchange: Exchange
  readonly session: StoredSession
  /** The options of the proxy. */
  readonly config: ProxyConfig
}

/** Returns the access token of the session for the API; refreshed if it has expired. Polling does not extend the session by that. */
export function currentToken(
  { config: { audience, scope }, engine, exchange }: Caller,
  refresh = false,
): MaybePromise<AccessToken> {
  const options = defined({ audience, scope, refresh })
  return getAccessToken(engine, exchange, options, { isBackground: isBackground(exchange.request) })
}

/**
 * Returns the token that replaces one that the API has refused as invalid, as `replacementToken` of `tokens`; `null` without one,
 * when the response of the API is passed on.
 */
export async function replaceRefused(caller: Caller, token: string): Promise<SessionToken | null> {
  const { config: want, engine, session } = caller
  try {
    return await replacementToken(engine, session, { token, want }, async () => currentToken(caller, true))
  } catch (thrown) {
    if (isIdpError(thrown, 'SESSION_EXPIRED')) throw thrown
    reportRefusal(engine.config, asIdpError(thrown), 'error')
    return null
  }
}
