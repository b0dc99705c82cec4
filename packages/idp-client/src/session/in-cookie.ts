import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import { SessionStoreError } from '../errors/session.ts'
import { chunkNames, joinCookie, splitCookie } from '../http/chunks.ts'
import type { CookieAttributes, CookieJar, CookieSpec } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-scope.ts'
import type { Exchange } from '../http/exchange.ts'
import { utf8Length } from '../lib/base64url.ts'
import { decodeSession, encodeSession } from './codec.ts'
import { isAlive, remaining } from './lifetime.ts'
import type { SessionData } from './session-data.ts'
import type { SessionStorage } from './storage.ts'
import type { StoredSession } from './stored-session.ts'

export interface InCookieParts {
  readonly config: Config
  readonly sealer: Sealer
  /** Tag of provider and client, see `StoredSession.client`. */
  readonly client: () => Promise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

const NONE: ReadonlySet<string> = new Set()

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
  const named = largest.map(([name, size]) => `${name} ${size}`).join(', ')
  const detail = `It takes ${bytes} of ${limit} bytes; largest: ${named}.`
  return new SessionStoreError('SESSION_TOO_LARGE', { bytes, fields, detail })
}

/** Stages the deletion of every cookie of this name, chunked or not, but the ones kept; true when there were any. */
function clearOthers(jar: CookieJar, { name, scope }: CookieSpec, kept: ReadonlySet<string>): boolean {
  const stale = chunkNames(name, jar.names()).filter((present) => !kept.has(present))
  for (const present of stale) jar.clear({ name: present, scope })
  return stale.length > 0
}

/** Sessions sealed into the browser's cookies: nothing to run, and nothing that another machine would have to know. */
export function inCookie({ config, sealer, client, baseUrl }: InCookieParts): SessionStorage {
  const { cookie, ...rules } = config.session
  const opened = new WeakMap<CookieJar, Promise<StoredSession | null>>()
  const loaded = new WeakMap<CookieJar, Promise<StoredSession | null>>()

  async function open(jar: CookieJar): Promise<StoredSession | null> {
    const sealed = joinCookie(cookie.name, (name) => jar.get(name))
    if (sealed === null) return null
    const bytes = await sealer.open('session', sealed)
    const session = bytes && decodeSession(bytes)
    if (!session) return null
    if (session.client !== undefined && session.client !== (await client())) return null
    const times = { createdAt: session.data.internal.createdAt, usedAt: session.usedAt }
    return isAlive(times, rules, config.clock()) ? session : null
  }

  function original({ cookies }: Exchange): Promise<StoredSession | null> {
    const session = opened.get(cookies) ?? open(cookies)
    opened.set(cookies, session)
    return session
  }

  const load = (exchange: Exchange): Promise<StoredSession | null> =>
    loaded.get(exchange.cookies) ?? original(exchange)

  function specOf(exchange: Exchange): CookieSpec {
    return { name: cookie.name, scope: cookieScope(cookie, () => baseUrl(exchange)) }
  }

  return {
    load,
    original,

    async save(exchange, session) {
      const { scope } = specOf(exchange)
      const times = { createdAt: session.data.internal.createdAt, usedAt: session.usedAt }
      const maxAge = cookie.transient ? undefined : remaining(times, rules, config.clock())
      const attributes: CookieAttributes = {
        ...scope,
        httpOnly: true,
        ...(maxAge === undefined ? {} : { maxAge }),
      }
      const sealed = await sealer.seal('session', encodeSession({ ...session, client: await client() }))
      if (sealed.length > cookie.maxBytes) throw tooLarge(session.data, sealed.length, cookie.maxBytes)
      const pieces = splitCookie(cookie.name, sealed, attributes)
      const bytes = pieces.reduce((sum, { name, value }) => sum + name.length + 1 + value.length, 0)
      if (bytes > cookie.maxBytes) throw tooLarge(session.data, bytes, cookie.maxBytes)
      clearOthers(exchange.cookies, { name: cookie.name, scope }, new Set(pieces.map(({ name }) => name)))
      for (const { name, value } of pieces) exchange.cookies.set({ name, scope }, value, maxAge)
      loaded.set(exchange.cookies, Promise.resolve(session))
      config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: pieces.length })
    },

    async destroy(exchange) {
      clearOthers(exchange.cookies, specOf(exchange), NONE)
      loaded.set(exchange.cookies, Promise.resolve(null))
    },

    async sweep(exchange) {
      if (chunkNames(cookie.name, exchange.cookies.names()).length === 0) return false
      if (await load(exchange)) return false
      return clearOthers(exchange.cookies, specOf(exchange), NONE)
    },
  }
}
