import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { Engine } from '../engine.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import { replacementToken } from '../tokens/replacement.ts'
import { isBackground } from './admission.ts'

/** Which token the API takes. */
type Want = Pick<GetAccessTokenOptions, 'audience' | 'scope'>

/** The user of one proxied request. */
export interface Caller {
  readonly engine: Engine
  readonly exchange: Exchange
  readonly session: StoredSession
}

/** Returns the access token of the session for the API; refreshed if it has expired. Polling does not extend the session by that. */
export function currentToken(
  { engine, exchange }: Caller,
  want: Want & Pick<GetAccessTokenOptions, 'refresh'>,
): MaybePromise<AccessToken> {
  return getAccessToken(engine, exchange, want, { isBackground: isBackground(exchange.request) })
}

/** Returns the token that replaces one that the API has refused as invalid, as `replacementToken` of `tokens`. */
export async function replace(caller: Caller, want: Want, token: string): Promise<SessionToken | null> {
  const { engine, session } = caller
  const { config } = engine
  const { sessionKey } = session
  const refused = { config, clientTag: await engine.clientTag(), sessionKey, token, want }
  return replacementToken(refused, async () => currentToken(caller, { ...want, refresh: true }))
}
