import { chunkNames, hasFurtherCookies, joinedCookies } from '../../http/chunks.ts'
import type { CookieJar } from '../../http/cookie-jar.ts'
import { decodeReference } from '../model/reference.ts'
import { decodeSession } from './codec.ts'
import { connectionCookieNames, listConnectionCookies } from './connection-cookies.ts'
import type { SessionCookieParts } from './cookies.ts'

type OwnerParts = Pick<SessionCookieParts, 'clientTag' | 'config' | 'sealer'>

const FOREIGN_COOKIE =
  'A request carries a cookie with the name of the session cookie that this application did not write. It stays until a ' +
  'login or logout here replaces it. If another application runs on this host, give each of them its own ' +
  'session.cookie.name; otherwise check that all processes have the same secret, and still have the previous one.'

const FURTHER_COOKIES =
  'A request carries more cookies with the name of the session cookie than are looked at; none of them is deleted.'

/** Returns whether this client wrote the cookie. Checks both kinds, since a deployment may change its storage. */
async function isOwn({ clientTag, sealer }: OwnerParts, sealed: string): Promise<boolean> {
  const session = await sealer.open('session', sealed)
  const reference = session ? null : await sealer.open('session-id', sealed)
  const tagged = (session && decodeSession(session)) ?? (reference && decodeReference(reference))
  if (tagged) return tagged.clientTag === undefined || tagged.clientTag === (await clientTag())
  // Encrypted with one of our secrets, but truncated, modified, or of a format that this version does not support.
  return (await sealer.isOwn('session', sealed)) || (await sealer.isOwn('session-id', sealed))
}

/** The names of the complete session cookies of a request: those of this client, and those of others. */
interface Owners {
  readonly own: ReadonlySet<string>
  readonly foreign: ReadonlySet<string>
}

async function ownersIn(parts: OwnerParts, jar: CookieJar): Promise<Owners> {
  const own = new Set<string>()
  const foreign = new Set<string>()
  for (const { names, value } of joinedCookies(parts.config.session.cookie.name, (name) => jar.all(name))) {
    const found = (await isOwn(parts, value)) ? own : foreign
    for (const name of names) found.add(name)
  }
  return { own, foreign }
}

/**
 * Returns the names of the session cookies that only another application wrote. If there are any, also those of all
 * connection tokens except those of the session with this key.
 */
export async function writtenByOthers(
  parts: OwnerParts,
  jar: CookieJar,
  sessionKey: string,
): Promise<ReadonlySet<string>> {
  const { foreign, own } = await ownersIn(parts, jar)
  if (foreign.size === 0) return foreign
  const { name } = parts.config.session.cookie
  const mine = await listConnectionCookies(sessionKey, jar, name, parts.sealer)
  const all = [...foreign, ...connectionCookieNames(name, jar.names())]
  return new Set(all.filter((each) => !own.has(each) && !mine.has(each)))
}

/**
 * Returns the names of the cookies to delete for a request without a live session: those of this client, and if there are
 * any, those that belong to no application. Reports cookies of other applications, which stay, once per process.
 */
export async function deadCookies(parts: OwnerParts, jar: CookieJar): Promise<readonly string[]> {
  const { log, session } = parts.config
  const { name } = session.cookie
  const { foreign, own } = await ownersIn(parts, jar)
  if (foreign.size > 0) log.once(FOREIGN_COOKIE, 'SESSION_COOKIE_SHARED')
  if (hasFurtherCookies(name, (each) => jar.all(each))) {
    log.once(FURTHER_COOKIES, 'SESSION_COOKIE_SHARED')
    return []
  }
  if (own.size === 0) return []
  const loose = chunkNames(name, jar.names()).filter((each) => !foreign.has(each))
  // Connection tokens contain the key of their session, but no client tag: they may be those of the other application.
  const connections = foreign.size > 0 ? [] : connectionCookieNames(name, jar.names())
  return [...new Set([...own, ...loose, ...connections])]
}
