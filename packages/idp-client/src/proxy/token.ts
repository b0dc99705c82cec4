import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import type { StoredSession } from '../session/model/stored-session.ts'

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

/** The replacement of a token that the API has refused. */
interface Replacement {
  /** The token of the refresh. */
  readonly token: AccessToken
  /** Seconds since the epoch. */
  readonly until: number
}

/** Seconds for which a token that replaced a refused one is not refreshed again, and for which it replaces that one. */
const PAUSE = 60
/** Maximum number of tokens of each kind. */
const LIMIT = 1000

/** Tokens that replaced a refused one, by the refused one of a session. */
const replacements = (): Lru<string, Replacement> =>
  processWide('state:replaced-access-tokens/1', () => new Lru(LIMIT))

/** Until when a token that replaced a refused one is not refreshed; seconds since the epoch. */
const replacing = (): Lru<string, number> =>
  processWide('mark:replacing-access-tokens/1', () => new Lru(LIMIT))

const refreshes = (): SingleFlight<AccessToken> =>
  processWide('queue:forced-refreshes/1', () => new SingleFlight())

/** Returns the access token of the session for the API; refreshed if it has expired. */
export function currentToken({ engine, exchange }: Caller, want: Want): MaybePromise<AccessToken> {
  return getAccessToken(engine, exchange, want)
}

/**
 * Returns the token that replaces one that the API has refused as invalid: by a refresh, which requests with the same token share;
 * `null` if that token came from such a refresh less than 60 s ago. Throws as `getAccessToken`.
 */
export async function replacementToken(
  { engine, exchange, session }: Caller,
  want: Want,
  refused: string,
): Promise<AccessToken | null> {
  const { clock, httpTimeout } = engine.config
  const tag = await engine.clientTag()
  const toName = async (token: string): Promise<string> =>
    hashToken(`${tag} ${session.sessionKey} ${token}`, 32)
  const name = await toName(refused)
  const known = replacements().get(name)
  if (known && known.until > clock()) return known.token
  if ((replacing().get(name) ?? 0) > clock()) return null
  const refresh = async (): Promise<AccessToken> => {
    const token = await getAccessToken(engine, exchange, { ...want, refresh: true })
    const until = clock() + PAUSE
    replacements().set(name, { token, until })
    replacing().set(await toName(token.token), until)
    return token
  }
  // One at a time for each session: requests for other APIs of the proxy wait, and then refresh themselves.
  return refreshes().run(name, refresh, 2 * httpTimeout)
}
