import type { GetAccessTokenOptions } from '../config/token-options.ts'
import { hashToken } from '../crypto/random.ts'
import { monotonic } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { defined } from '../lib/objects.ts'
import { processWide } from '../lib/registry.ts'
import { sweeping } from '../lib/request-scope.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import { reportFailure } from '../log/failure.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { FamilyParts } from './refresh/families.ts'
import type { TokenSource } from './token-request.ts'

/** An access token as `getAccessToken` returns it. */
export type SessionToken = Awaited<ReturnType<TokenSource>>

/** The replacement of a token that the API has refused, or a mark that a token is such a replacement. */
interface Replacement {
  /** The token of the refresh; absent if the refused token came from one itself, or the refresh failed. */
  readonly token?: SessionToken
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
  /** By a hash of a token of a session: with what was requested for its replacement, without for one that is a replacement itself. */
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
const refreshes = (): SingleFlight<SessionToken> =>
  processWide('queue:forced-refreshes/1', () => new SingleFlight())

/** A token of a session that an API has refused as invalid. */
export interface RefusedToken {
  readonly token: string
  /** The request of the caller: the replacement is one for the same. */
  readonly want: Omit<GetAccessTokenOptions, 'refresh'>
}

/**
 * Returns the token that replaces one that the API has refused as invalid: by a refresh, which requests with the same token share;
 * `null` if that token came from such a refresh less than 60 s ago, or its refresh failed less than 5 s ago. Throws as `getToken`.
 */
export async function replacementToken(
  { clientTag, config }: FamilyParts,
  { sessionKey }: StoredSession,
  { token: refused, want }: RefusedToken,
  getToken: TokenSource,
): Promise<SessionToken | null> {
  const { clock, httpTimeout } = config
  const tag = await clientTag()
  const toName = async (token: string, ...wanted: readonly unknown[]): Promise<string> =>
    hashToken(`${tag} ${sessionKey} ${token} ${JSON.stringify(wanted)}`, 32)
  const name = await toName(refused, want.audience, want.scope, want.mergeScopes)
  const { byToken, forgetLater } = replacements()
  for (const known of [byToken.get(name), byToken.get(await toName(refused))])
    if (known && known.until > clock()) return known.token ?? null
  const remember = (key: string, seconds: number, token?: SessionToken): void => {
    byToken.set(key, defined({ token, until: clock() + seconds, addedAt: monotonic() }))
    forgetLater()
  }
  const refresh = async (): Promise<SessionToken> => {
    try {
      const token = await getToken({ ...want, refresh: true })
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

/** As `replacementToken`, but logs what it throws, and returns `null`: the response of the API says what is wrong. */
export async function tryReplacement(
  ...given: Parameters<typeof replacementToken>
): Promise<SessionToken | null> {
  return replacementToken(...given).catch((error: unknown) => {
    const [{ config }] = given
    reportFailure(config.log, error)
    return null
  })
}
