import type { Config } from '../../config/config.ts'
import type { Sealer } from '../../crypto/seal.ts'
import { MAX_SEALED_CHARACTERS } from '../../crypto/seal.ts'
import type { JoinedCookie, NamedValue } from '../../http/chunks.ts'
import { joinedCookies, splitCookie } from '../../http/chunks.ts'
import type { CookieJar } from '../../http/cookie-jar.ts'
import type { Exchange } from '../../http/exchange.ts'
import { isAlive } from '../model/lifetime.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type { SessionStorage } from '../storage.ts'
import type { ComposedSession } from './budget.ts'
import { decodeSession, encodeSession } from './codec.ts'
import type { ConnectionCookies } from './connection-cookies.ts'
import { connectionCookies } from './connection-cookies.ts'
import type { SessionCookies } from './cookies.ts'
import { sessionCookies, toTimes } from './cookies.ts'
import type { LogoutMarker } from './logout-marker.ts'
import { logoutMarker } from './logout-marker.ts'

export interface InCookieParts {
  readonly config: Config
  readonly sealer: Sealer
  /** Tag of provider and client, see `StoredSession.client`. */
  readonly client: () => Promise<string>
  readonly baseUrl: (exchange: Exchange) => string
  /** Whether this process knows that the session ended, whatever its cookie says. Default: it knows of none. */
  readonly hasEnded?: (session: StoredSession) => boolean
}

/** Sessions in cookies, of which a request may carry several. */
export interface CookieSessionStorage extends SessionStorage {
  /**
   * Every session that the request carries, the one that `load` returns first; with those that ended in this process
   * while the request was on its way.
   */
  loadAll(exchange: Exchange): Promise<readonly StoredSession[]>
}

interface ReaderParts extends Omit<InCookieParts, 'baseUrl'> {
  readonly connections: ConnectionCookies
  readonly marker: LogoutMarker
}

interface Reader extends Pick<CookieSessionStorage, 'load' | 'loadAll' | 'original'> {
  /** Sets the session that this request loads from now on. */
  remember(jar: CookieJar, session: StoredSession | null): void
  /** Whether the request carries a session that ended in this process: it was sent before that. */
  isLate(jar: CookieJar): boolean
}

/** Opens the cookie of a request once, however many operations ask. */
function reader({ config, sealer, client, connections, hasEnded, marker }: ReaderParts): Reader {
  const { cookie, ...rules } = config.session
  const received = new WeakMap<CookieJar, Promise<StoredSession | null>>()
  const current = new WeakMap<CookieJar, Promise<StoredSession | null>>()
  const late = new WeakSet<CookieJar>()

  const candidates = (jar: CookieJar): Iterable<JoinedCookie> =>
    joinedCookies(cookie.name, (name) => jar.all(name))

  async function openOne(jar: CookieJar, sealed: string): Promise<StoredSession | null> {
    const bytes = await sealer.open('session', sealed)
    const session = bytes && decodeSession(bytes)
    if (!session) return null
    if (session.client !== undefined && session.client !== (await client())) return null
    if (!isAlive(toTimes(session), rules, config.clock())) return null
    if (await marker.hasEnded(jar, session)) return null
    const connectionTokenSets = await connections.read(jar, session.sessionKey)
    if (connectionTokenSets.length > 0) session.data.connectionTokenSets = connectionTokenSets
    return session
  }

  /** Others may have put a cookie of the name beside ours (a sibling domain, another path): it hides no session. */
  async function openFirst(jar: CookieJar): Promise<StoredSession | null> {
    for (const { value } of candidates(jar)) {
      const session = await openOne(jar, value)
      if (!session) continue
      if (!hasEnded?.(session)) return session
      late.add(jar)
    }
    return null
  }

  function receive({ cookies }: Exchange): Promise<StoredSession | null> {
    const session = received.get(cookies) ?? openFirst(cookies)
    received.set(cookies, session)
    return session
  }

  async function load(exchange: Exchange): Promise<StoredSession | null> {
    return current.get(exchange.cookies) ?? receive(exchange)
  }

  return {
    load,

    async loadAll(exchange) {
      const { cookies } = exchange
      const first = await load(exchange)
      const found = new Map(first ? [[first.sessionKey, first]] : [])
      for (const { value } of candidates(cookies)) {
        const session = await openOne(cookies, value)
        if (session && !found.has(session.sessionKey)) found.set(session.sessionKey, session)
      }
      return [...found.values()]
    },

    isLate: (jar) => late.has(jar),

    original: receive,

    remember(jar, session) {
      current.set(jar, Promise.resolve(session))
    },
  }
}

type Pack = (
  exchange: Exchange,
  session: StoredSession,
  mustFit: boolean,
) => Promise<ComposedSession & { readonly cookies: readonly NamedValue[] }>

/** Seals sessions into cookies: most fit, and of the others as much as does. */
function packer(
  { client, config, sealer }: InCookieParts,
  connections: ConnectionCookies,
  attributes: SessionCookies['attributes'],
): Pack {
  const { maxBytes, name } = config.session.cookie

  async function compose(exchange: Exchange, session: StoredSession): Promise<ComposedSession> {
    const written = attributes(exchange, session)
    const { connectionTokenSets = [], ...data } = session.data
    const plain = encodeSession({ ...session, data: data as SessionData, client: await client() })
    const sealed = await sealer.seal('session', plain)
    const further = await connections.write(session.sessionKey, connectionTokenSets, written)
    // A larger value would be rejected when it is read.
    if (sealed.length > MAX_SEALED_CHARACTERS || !further)
      return { session, attributes: written, cookies: null, bytes: sealed.length }
    const cookies = [...splitCookie(name, sealed, written), ...further]
    const bytes = cookies.reduce((sum, each) => sum + each.name.length + 1 + each.value.length, 0)
    return { session, attributes: written, cookies, bytes }
  }

  return async (exchange, session, mustFit) => {
    const composed = await compose(exchange, session)
    const { cookies } = composed
    if (cookies && composed.bytes <= maxBytes) return { ...composed, cookies }
    const { fitIntoCookies } = await import('./budget.ts')
    return fitIntoCookies(composed, { config, compose: (other) => compose(exchange, other), mustFit })
  }
}

/** Sessions sealed into the browser's cookies: nothing to run, and nothing that another machine would have to know. */
export function inCookie(parts: InCookieParts): CookieSessionStorage {
  const { client, config, sealer } = parts
  const { cookie } = config.session
  const connections = connectionCookies(cookie.name, sealer)
  const { attributes, clearAll, clearDead, clearReplaced, isPresent, scope } = sessionCookies(parts)
  const marker = logoutMarker({ config, sealer, client, scope })
  const { isLate, load, loadAll, original, remember } = reader({ ...parts, connections, marker })
  const pack = packer(parts, connections, attributes)

  /** A new session takes the place of all that the request carries: none of them may hide it. */
  async function replace(exchange: Exchange, session: StoredSession): Promise<void> {
    const replaced = (await loadAll(exchange)).filter(({ sessionKey }) => sessionKey !== session.sessionKey)
    if (replaced.length === 0) await marker.admit(exchange, session)
    else await marker.replace(exchange, replaced, session)
  }

  return {
    load,
    loadAll,
    original,

    async save(exchange, given, { mustFit = false } = {}) {
      const { attributes: written, bytes, cookies, session } = await pack(exchange, given, mustFit)
      const { httpOnly: _always, maxAge, ...scope } = written
      const kept = new Set(cookies.map(({ name }) => name))
      if ((await load(exchange))?.sessionKey === session.sessionKey)
        await clearReplaced(exchange, kept, session.sessionKey)
      else {
        await replace(exchange, session)
        clearAll(exchange, kept)
      }
      for (const { name, value } of cookies) exchange.cookies.set({ name, scope }, value, maxAge)
      remember(exchange.cookies, session)
      config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: cookies.length })
      return true
    },

    async assertFits(exchange, session) {
      await pack(exchange, session, true)
    },

    async destroy(exchange) {
      const ended = await loadAll(exchange)
      if (ended.length > 0) await marker.leave(exchange, ended)
      clearAll(exchange)
      remember(exchange.cookies, null)
    },

    async sweep(exchange) {
      if (!isPresent(exchange.cookies) || (await load(exchange))) return false
      // The browser may hold another session by now, which a deletion would hit.
      return isLate(exchange.cookies) ? false : clearDead(exchange)
    },
  }
}
