import { randomToken } from '../../src/crypto/random.ts'
import type { StoredSession } from '../../src/session/model/stored-session.ts'
import type { DistributedSessions } from '../../src/session/storage.ts'
import type { Purpose, RedemptionParts } from '../../src/tokens/refresh/coordinator.ts'
import { redeemOnce } from '../../src/tokens/refresh/coordinator.ts'
import type { TokenFamily } from '../../src/tokens/refresh/families.ts'
import { findFamily, tokenKey } from '../../src/tokens/refresh/families.ts'
import type { RedemptionResult } from '../../src/tokens/refresh/state.ts'
import { Cookies, engineFor } from './engine.ts'

export interface Setting {
  readonly store?: Partial<DistributedSessions>
  readonly httpTimeout?: number
  readonly clientTag?: string
  readonly logger?: (event: unknown) => void
}

/** Sessions in cookies, or in a store that can do nothing but what the test gives it. */
export function partsFor({
  clientTag = 'client',
  httpTimeout = 1000,
  logger,
  store,
}: Setting = {}): RedemptionParts {
  const { clock, engine } = engineFor({ ...(logger ? { logger } : {}) })
  clock.now = 0
  const distributed = (): DistributedSessions => ({
    lock: async () => undefined,
    read: async () => null,
    persist: async (_found, session) => ({ session, isWritten: true }),
    flush: async () => ({ session: null }),
    ...store,
  })
  const sessions = { ...engine.sessions, save: async () => true, ...(store ? { distributed } : {}) }
  return { config: { ...engine.config, httpTimeout }, clientTag: () => clientTag, sessions }
}

export const inCookies: RedemptionParts = partsFor()

export function session(refreshToken = randomToken()): StoredSession & { refreshToken: string } {
  const tokenSet = { accessToken: 'old', expiresAt: 0, refreshToken }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: 0 } }
  return { data, sessionKey: randomToken(), usedAt: 0, refreshToken }
}

export function purpose(of: ReturnType<typeof session>, changes: Partial<Purpose> = {}): Purpose {
  return {
    session: of,
    refreshToken: of.refreshToken,
    key: 'api',
    isSatisfiedBy: ({ data }) => data.tokenSet.accessToken !== 'old',
    redeem: async (latest, token) => renewed(latest, `${token}+`),
    ...changes,
  }
}

export function renewed(latest: StoredSession, refreshToken: string): RedemptionResult {
  const tokenSet = { accessToken: 'new', expiresAt: 60, refreshToken }
  return { session: { ...latest, data: { ...latest.data, tokenSet } } }
}

/** Redeems for a request of its own. */
export const ask = (given: Purpose, parts = inCookies): ReturnType<typeof redeemOnce> =>
  redeemOnce(parts, new Cookies().exchange(), given)

export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** Returns the family of the refresh token of a session. */
export async function familyOf(
  of: ReturnType<typeof session>,
  parts = inCookies,
): Promise<TokenFamily | undefined> {
  return findFamily(await tokenKey(parts, of.refreshToken), of, 0)
}
