import type { Engine } from '../engine.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import { replacementToken } from '../tokens/replacement.ts'
import type { TokenRequest } from '../tokens/token-request.ts'
import { isBackground } from './admission.ts'

/** Which token the API takes. */
interface Want {
  readonly audience?: string
  readonly scope?: string
}

/** The user of one proxied request. */
export interface Caller {
  readonly engine: Engine
  readonly exchange: Exchange
  readonly session: StoredSession
}

/** Polling does not keep a session alive, whether or not its access token expires meanwhile. */
const toPurpose = ({ exchange: { request } }: Caller): Pick<TokenRequest, 'isBackground'> =>
  isBackground(request) ? { isBackground: true } : {}

/** Returns the access token of the session for the API; refreshed if it has expired. */
export function currentToken(caller: Caller, want: Want): MaybePromise<AccessToken> {
  return getAccessToken(caller.engine, caller.exchange, want, toPurpose(caller))
}

/** Returns the token that replaces one that the API has refused as invalid, as `replacementToken` of `tokens`. */
export async function replace(caller: Caller, want: Want, token: string): Promise<SessionToken | null> {
  const { engine, exchange, session } = caller
  const { config } = engine
  const { sessionKey } = session
  const refused = { config, clientTag: await engine.clientTag(), sessionKey, token, want }
  return replacementToken(refused, async () =>
    getAccessToken(engine, exchange, { ...want, refresh: true }, toPurpose(caller)),
  )
}
