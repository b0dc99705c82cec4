import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import { fieldName, SessionStoreError } from '../errors/session.ts'
import type { JoinedCookie, NamedValue } from '../http/chunks.ts'
import { joinedCookies, splitCookie } from '../http/chunks.ts'
import type { CookieAttributes, CookieJar } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Bytes } from '../lib/base64url.ts'
import { utf8Length } from '../lib/base64url.ts'
import { decodeSession, encodeSession } from './codec.ts'
import type { ConnectionCookies } from './connection-cookies.ts'
import { connectionCookies } from './connection-cookies.ts'
import { sessionCookies, timesOf } from './cookies.ts'
import { isAlive } from './lifetime.ts'
import type { LogoutMarker } from './logout-marker.ts'
import { logoutMarker } from './logout-marker.ts'
import type { SessionData } from './session-data.ts'
import type { SessionStorage } from './storage.ts'
import type { StoredSession } from './stored-session.ts'

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

/** JSON bytes per field, the largest first: what a developer needs to see when a session does not fit. */
function fieldBytes(data: SessionData): Record<string, number> {
  const sizes = Object.entries(data).flatMap(([field, value]) =>
    field === 'user' || field === 'tokenSet'
      ? Object.entries(value as object).map(([name, inner]) => [`${field}.${name}`, sizeOf(inner)] as const)
      : [[field, sizeOf(value)] as const],
  )
  return Object.fromEntries(sizes.sort(([, a], [, b]) => b - a))
}

function sizeOf(value: unknown): number {
  const json = JSON.stringify(value)
  return json === undefined ? 0 : utf8Length(json)
}

function tooLarge(data: SessionData, bytes: number, limit: number): SessionStoreError {
  const fields = fieldBytes(data)
  const largest = Object.entries(fields).slice(0, 5)
  const named = largest.map(([name, size]) => `${fieldName(name)} ${size}`).join(', ')
  const detail = `It takes ${bytes} of ${limit} bytes; largest: ${named}.`
  return new SessionStoreError('SESSION_TOO_LARGE', { bytes, fields, detail })
}

interface ReaderParts extends Omit<InCookieParts, 'baseUrl'> {
  readonly connections: ConnectionCookies
  readonly marker: LogoutMarker
}

interface Reader extends Pick<CookieSessionStorage, 'load' | 'loadAll' | 'original'> {
  /** What this request loads from now on. */
  remember(jar: CookieJar, session: StoredSession | null): void
  /** Whether the request carries a session that ended in this process: it was sent before that. */
  isLate(jar: CookieJar): boolean
}

/** Opens the cookie of a request once, however many operations ask. */
function reader({ config, sealer, client, connections, hasEnded, marker }: ReaderParts): Reader {
  const { cookie, ...rules } = config.session
  const received = new WeakMap<CookieJar, Promise<StoredSession | null>>()
  const current = new WeakMap<CookieJar, Promise<StoredSession | null>>()
  const sources = new WeakMap<StoredSession, Bytes>()
  const late = new WeakSet<CookieJar>()

  const candidates = (jar: CookieJar): Iterable<JoinedCookie> =>
    joinedCookies(cookie.name, (name) => jar.all(name))

  async function openOne(jar: CookieJar, sealed: string): Promise<StoredSession | null> {
    const bytes = await sealer.open('session', sealed)
    const session = bytes && decodeSession(bytes)
    if (!session) return null
    if (session.client !== undefined && session.client !== (await client())) return null
    if (!isAlive(timesOf(session), rules, config.clock())) return null
    if (await marker.hasEnded(jar, session)) return null
    sources.set(session, bytes)
    const connectionTokenSets = await connections.read(jar, session.handle)
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
      const found = new Map(first ? [[first.handle, first]] : [])
      for (const { value } of candidates(cookies)) {
        const session = await openOne(cookies, value)
        if (session && !found.has(session.handle)) found.set(session.handle, session)
      }
      return [...found.values()]
    },

    isLate: (jar) => late.has(jar),

    // Read anew: the application may have changed the object that it was given.
    async original(exchange) {
      const session = await receive(exchange)
      const bytes = session && sources.get(session)
      return bytes ? decodeSession(bytes) : session
    },

    remember(jar, session) {
      current.set(jar, Promise.resolve(session))
    },
  }
}

/** The cookies of one session. */
interface Composed {
  readonly written: CookieAttributes
  readonly pieces: readonly NamedValue[]
  /** Bytes of all of them, names included. */
  readonly bytes: number
}

/** Sessions sealed into the browser's cookies: nothing to run, and nothing that another machine would have to know. */
export function inCookie(parts: InCookieParts): CookieSessionStorage {
  const { client, config, sealer } = parts
  const { cookie } = config.session
  const connections = connectionCookies(cookie.name, sealer)
  const { attributes, clearAll, clearDead, clearReplaced, isPresent, scope } = sessionCookies(parts)
  const marker = logoutMarker({ config, sealer, client, scope })
  const { isLate, load, loadAll, original, remember } = reader({ ...parts, connections, marker })

  async function piecesOf(session: StoredSession, written: CookieAttributes): Promise<readonly NamedValue[]> {
    const { connectionTokenSets = [], ...data } = session.data
    const bytes = encodeSession({ ...session, data: data as SessionData, client: await client() })
    const sealed = await sealer.seal('session', bytes)
    // Before it is split: what is far too large would not even fit into the chunks that there may be.
    if (sealed.length > cookie.maxBytes) throw tooLarge(session.data, sealed.length, cookie.maxBytes)
    const further = await connections.write(session.handle, connectionTokenSets, written)
    return [...splitCookie(cookie.name, sealed, written), ...further]
  }

  /** What `save` stages. Throws `SESSION_TOO_LARGE`. */
  async function compose(exchange: Exchange, session: StoredSession): Promise<Composed> {
    const written = attributes(exchange, session)
    const pieces = await piecesOf(session, written)
    const bytes = pieces.reduce((sum, { name, value }) => sum + name.length + 1 + value.length, 0)
    if (bytes > cookie.maxBytes) throw tooLarge(session.data, bytes, cookie.maxBytes)
    return { written, pieces, bytes }
  }

  /** A new session takes the place of all that the request carries: none of them may hide it. */
  async function replace(exchange: Exchange, session: StoredSession): Promise<void> {
    const replaced = (await loadAll(exchange)).filter(({ handle }) => handle !== session.handle)
    if (replaced.length === 0) await marker.admit(exchange, session)
    else await marker.replace(exchange, replaced, session)
  }

  return {
    load,
    loadAll,
    original,

    async save(exchange, session) {
      const { bytes, pieces, written } = await compose(exchange, session)
      const { httpOnly: _always, maxAge, ...scope } = written
      const kept = new Set(pieces.map(({ name }) => name))
      if ((await load(exchange))?.handle === session.handle) await clearReplaced(exchange, kept)
      else {
        await replace(exchange, session)
        clearAll(exchange, kept)
      }
      for (const { name, value } of pieces) exchange.cookies.set({ name, scope }, value, maxAge)
      remember(exchange.cookies, session)
      config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: pieces.length })
      return true
    },

    async assertFits(exchange, session) {
      await compose(exchange, session)
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
