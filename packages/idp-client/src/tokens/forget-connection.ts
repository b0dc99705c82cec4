import type { SessionData } from '../session/session-data.ts'

/** The session without the kept access tokens of one connection; of all, where it is not known which one changed. */
export function forgetConnection(data: SessionData, connection?: string): SessionData {
  const { connectionTokenSets = [], ...rest } = data
  const kept =
    connection === undefined ? [] : connectionTokenSets.filter((entry) => entry.connection !== connection)
  return { ...rest, ...(kept.length > 0 ? { connectionTokenSets: kept } : {}) } as SessionData
}
