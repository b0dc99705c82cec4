import { chunkNames, hasFurtherCookies, joinedCookies } from '../../http/chunks.ts'
import type { CookieJar } from '../../http/cookie-jar.ts'
import { isAhead } from '../model/lifetime.ts'
import { decodeReference, isOtherReference } from '../model/reference.ts'
import type { ClientParts } from '../storage.ts'
import { decodeSession, isOtherVersion, UNDECODABLE } from './codec.ts'
import { connectionCookieNames, listConnectionCookies } from './connection-cookies.ts'

const FOREIGN_COOKIE =
  'A request carries a cookie with the name of the session cookie that this application did not write. It stays until a ' +
  'login or logout here replaces it. If another application runs on this host, give each of them its own ' +
  'session.cookie.name; otherwise check that all processes have the same secret, and still have the previous one.'

const FURTHER_COOKIES =
  'A request carries more cookies with the name of the session cookie than are looked at; none of them is deleted.'

const AHEAD =
  'A request carries a session that starts more than an hour in the future, so it is not used. It stays until a login or ' +
  'logout.'

/**
 * `own`: of this client. `kept`: of this application too, but another process may still use it, because it is of another
 * version, or by another clock. `foreign`: of another application, or encrypted with an unknown secret.
 */
type Owner = 'own' | 'kept' | 'foreign'

/** A decrypted cookie; absent if it could not be decoded. */
interface Tagged {
  readonly clientTag?: string
  readonly startsAt: number
}

async function toOwner({ clientTag, config }: ClientParts, tagged: Tagged | null): Promise<Owner> {
  if (!tagged) {
    config.log.once(UNDECODABLE)
    return 'own'
  }
  if (tagged.clientTag !== undefined && tagged.clientTag !== (await clientTag())) return 'foreign'
  if (!isAhead(tagged.startsAt, config.clock())) return 'own'
  config.log.once(AHEAD, 'CLOCKS_DIFFER')
  return 'kept'
}

/** Returns who wrote a cookie. Checks both kinds, since a deployment may change its storage. */
async function findOwner(parts: ClientParts, sealed: string): Promise<Owner> {
  const { sealer } = parts
  const bytes = await sealer.open('session', sealed)
  if (bytes) {
    if (isOtherVersion(bytes)) return 'kept'
    const session = decodeSession(bytes)
    return toOwner(parts, session && { ...session, startsAt: session.data.internal.createdAt })
  }
  const referenceBytes = await sealer.open('session-id', sealed)
  if (referenceBytes) {
    if (isOtherReference(referenceBytes)) return 'kept'
    const reference = decodeReference(referenceBytes)
    return toOwner(parts, reference && { ...reference, startsAt: reference.writtenAt })
  }
  // Encrypted with one of our secrets, but truncated or modified.
  return (await sealer.isOwn('session', sealed)) || (await sealer.isOwn('session-id', sealed))
    ? 'own'
    : 'foreign'
}

/** The names of the complete session cookies of a request, by their owner. */
type Owners = Readonly<Record<Owner, ReadonlySet<string>>>

async function ownersIn(parts: ClientParts, jar: CookieJar): Promise<Owners> {
  const owners = { own: new Set<string>(), kept: new Set<string>(), foreign: new Set<string>() }
  for (const { names, value } of joinedCookies(parts.config.session.cookie.name, jar)) {
    const found = owners[await findOwner(parts, value)]
    for (const name of names) found.add(name)
  }
  return owners
}

/**
 * Returns the names of the session cookies that another application wrote, or another process that may still use them. If
 * there are any, also those of all connection tokens except those of the session with this key.
 */
export async function writtenByOthers(
  parts: ClientParts,
  jar: CookieJar,
  sessionKey: string,
): Promise<ReadonlySet<string>> {
  const { foreign, kept, own } = await ownersIn(parts, jar)
  const others = [...foreign, ...kept]
  if (others.length === 0) return new Set()
  const { name } = parts.config.session.cookie
  const mine = await listConnectionCookies(sessionKey, jar, name, parts.sealer)
  const all = [...others, ...connectionCookieNames(name, jar)]
  return new Set(all.filter((each) => !own.has(each) && !mine.has(each)))
}

/**
 * Returns the names of the cookies to delete for a request without a live session: those of this client, and if there are
 * any, those that belong to no application. Reports cookies of other applications, which stay, once per process.
 */
export async function deadCookies(parts: ClientParts, jar: CookieJar): Promise<readonly string[]> {
  const { log, session, takeOver } = parts.config
  const { name } = session.cookie
  const { foreign, kept, own } = await ownersIn(parts, jar)
  // The former library may use the same name.
  if (foreign.size > 0 && !takeOver) log.once(FOREIGN_COOKIE, 'SESSION_COOKIE_SHARED')
  if (hasFurtherCookies(name, jar)) {
    log.once(FURTHER_COOKIES, 'SESSION_COOKIE_SHARED')
    return []
  }
  if (own.size === 0) return []
  const others = new Set([...foreign, ...kept])
  const loose = chunkNames(name, jar.names(name)).filter((each) => !others.has(each))
  // Connection tokens contain the key of their session, but no client tag: they may be those of another one.
  const connections = others.size > 0 ? [] : connectionCookieNames(name, jar)
  return [...new Set([...own, ...loose, ...connections])].filter((each) => !kept.has(each))
}
