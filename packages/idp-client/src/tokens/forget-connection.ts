import type { SessionData } from '../session/model/session-data.ts'

/** Returns the session without the access tokens of connections for which `isKept` is false. */
export function keepConnections(data: SessionData, isKept: (connection: string) => boolean): SessionData {
  const { connectionTokenSets = [], ...rest } = data
  const kept = connectionTokenSets.filter(({ connection }) => isKept(connection))
  return { ...rest, ...(kept.length > 0 ? { connectionTokenSets: kept } : {}) } as SessionData
}

/** Returns the session without the access tokens of one connection, or of all if it is unknown which one has changed. */
export function forgetConnection(data: SessionData, connection?: string): SessionData {
  return keepConnections(data, (each) => connection !== undefined && each !== connection)
}
