import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import type { AccessToken } from '../flows/get-access-token.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { monotonic } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { defined } from '../lib/own-properties.ts'
import { processWide } from '../lib/registry.ts'
import { sweeping } from '../lib/request-scope.ts'
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

/** The replacement of a token that the API has refused, or a mark that a token is such a replacement. */
interface Replacement {
  /** The token of the refresh; absent if the refused token came from one itself, or the refresh failed. */
  readonly token?: AccessToken
  /** Seconds since the epoch. */
  readonly until: number
  /** When it was added, milliseconds of the monotonic clock. */
  readonly addedAt: number
}

/** Seconds for which a token that replaced a refused one is not refreshed again, and for which it replaces that one. */
const PAUSE = 60
/** Seconds for which a token is not refreshed again whose refresh has failed. */
const FAILURE_PAUSE = 5
/** Maximum number of tokens. */
const MAX_REPLACEMENTS = 20_000

interface Replacements {
  /** By a hash of a token of a session. */
  readonly byToken: Lru<string, Replacement>
  /** Schedules the deletion of old ones. */
  readonly forgetLater: () => void
}

const replacements = (): Replacements =>
  processWide('state:replaced-access-tokens/1', () => {
    const byToken = new Lru<string, Replacement>(MAX_REPLACEMENTS)
    const forgetOld = (): boolean => {
      const before = monotonic() - PAUSE * 1000
      for (const [name, { addedAt }] of byToken.entries()) if (addedAt <= before) byToken.delete(name)
      return byToken.size > 0
    }
    return { byToken, forgetLater: sweeping(PAUSE * 1000, forgetOld) }
  })

/** Refreshes that run. Those of one session take turns (`tokens/refresh/coordinator.ts`). */
const refreshes = (): SingleFlight<AccessToken> =>
  processWide('queue:forced-refreshes/1', () => new SingleFlight())

/** Returns the access token of the session for the API; refreshed if it has expired. */
export function currentToken({ engine, exchange }: Caller, want: Want): MaybePromise<AccessToken> {
  return getAccessToken(engine, exchange, want)
}

/**
 * Returns the token that replaces one that the API has refused as invalid: by a refresh, which requests with the same token share;
 * `null` if that token came from such a refresh less than 60 s ago, or its refresh failed less than 5 s ago. Throws as `getAccessToken`.
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
  const { byToken, forgetLater } = replacements()
  const known = byToken.get(name)
  if (known && known.until > clock()) return known.token ?? null
  const remember = (key: string, seconds: number, token?: AccessToken): void => {
    byToken.set(key, defined({ token, until: clock() + seconds, addedAt: monotonic() }))
    forgetLater()
  }
  const refresh = async (): Promise<AccessToken> => {
    try {
      const token = await getAccessToken(engine, exchange, { ...want, refresh: true })
      remember(name, PAUSE, token)
      remember(await toName(token.token), PAUSE)
      return token
    } catch (error) {
      remember(name, FAILURE_PAUSE)
      throw error
    }
  }
  return refreshes().run(name, refresh, 4 * httpTimeout)
}
