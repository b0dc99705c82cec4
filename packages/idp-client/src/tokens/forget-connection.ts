import type { SessionData } from '../session/model/session-data.ts'

/** The session without the kept access tokens of connections that `isKept` refuses. */
export function keepConnections(data: SessionData, isKept: (connection: string) => boolean): SessionData {
  const { connectionTokenSets = [], ...rest } = data
  const kept = connectionTokenSets.filter(({ connection }) => isKept(connection))
  return { ...rest, ...(kept.length > 0 ? { connectionTokenSets: kept } : {}) } as SessionData
}

/** The session without the kept access tokens of one connection; of all, where it is not known which one changed. */
export function forgetConnection(data: SessionData, connection?: string): SessionData {
  return keepConnections(data, (each) => connection !== undefined && each !== connection)
}
