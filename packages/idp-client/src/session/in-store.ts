import type { Config } from '../config/config.ts'
import type { SessionDataStore } from '../config/options.ts'
import type { Sealer } from '../crypto/seal.ts'
import { chunkNames } from '../http/chunks.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { connectionCookies } from './connection-cookies.ts'
import type { SessionCookies } from './cookies.ts'
import { sessionCookies, timesOf } from './cookies.ts'
import { guardedStore } from './guarded-store.ts'
import { endsAt } from './lifetime.ts'
import { recordId } from './record.ts'
import { exclusiveRedemption } from './redemption.ts'
import { encodeReference } from './reference.ts'
import type { SessionStorage } from './storage.ts'
import type { StoreReader } from './store-reader.ts'
import { storeReader } from './store-reader.ts'
import type { StoreRecords } from './store-records.ts'
import { storeRecords } from './store-records.ts'
import type { StoredSession } from './stored-session.ts'
import { isSessionData } from './stored-session.ts'

export interface InStoreParts {
  readonly config: Config
  readonly store: SessionDataStore
  readonly sealer: Sealer
  /** Tag of provider and client, see `StoredSession.client`. */
  readonly client: () => Promise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

interface StoreCookies extends SessionCookies {
  namesIn(jar: CookieJar): string[]
}

function cookiesOf({ baseUrl, config, sealer }: InStoreParts): StoreCookies {
  const { name } = config.session.cookie
  const connections = connectionCookies(name, sealer)
  const namesIn = (jar: CookieJar): string[] => [
    ...chunkNames(name, jar.names()),
    // Of the time when sessions were in cookies.
    ...connections.names(jar),
  ]
  return { namesIn, ...sessionCookies({ config, baseUrl, namesIn }) }
}

/** Stages the cookie that names a session. */
function cookieWriter(
  { client, config, sealer }: InStoreParts,
  { attributes, clear }: StoreCookies,
  reader: StoreReader,
): (exchange: Exchange, session: StoredSession) => Promise<void> {
  const { name } = config.session.cookie
  return async (exchange, session) => {
    const { httpOnly: _always, maxAge, ...scope } = attributes(exchange, session)
    const reference = { client: await client(), handle: session.handle, writtenAt: config.clock() }
    const value = await sealer.seal('session-id', encodeReference(reference))
    clear(exchange, new Set([name]))
    exchange.cookies.set({ name, scope }, value, maxAge)
    reader.refer(exchange.cookies, reference)
    const bytes = name.length + 1 + value.length
    config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: 1 })
  }
}

interface Beginning {
  /** Whether the session is a login's that was stored here already: an identical callback shares it. */
  isBegun(given: StoredSession): boolean
  /** Stores a login's session, once; gives what it is by now, null when it has ended. */
  begin(given: StoredSession, session: StoredSession): Promise<StoredSession | null>
}

function beginningIn(records: StoreRecords): Beginning {
  const begun = new WeakMap<StoredSession, Promise<void>>()
  return {
    isBegun: (given) => begun.has(given),

    async begin(given, session) {
      const before = begun.get(given)
      if (before) {
        await before
        // It may have gone on since, or ended: to create it again would undo that.
        return (await records.read(session.handle))?.session ?? null
      }
      const creation = records.create(session)
      begun.set(given, creation)
      await creation
      return session
    },
  }
}

/**
 * Sessions in the application's store; the cookie holds nothing but a sealed random name. A record that is gone stays
 * gone: nothing but a login creates one.
 */
export function inStore(parts: InStoreParts): SessionStorage {
  const { client, config, sealer } = parts
  const { cookie: _cookie, ...rules } = config.session
  const store = guardedStore(config, parts.store, isSessionData)
  const records = storeRecords(store, (session) => endsAt(timesOf(session), rules))
  const cookies = cookiesOf(parts)
  const { clear, namesIn } = cookies
  const reader = storeReader({ client, config, records, sealer })
  const stageCookie = cookieWriter(parts, cookies, reader)
  const { begin, isBegun } = beginningIn(records)

  /** A failure is in the log; whoever logs out or in is not kept from it. */
  async function forget(handle: string): Promise<void> {
    await records.forget(handle).catch(() => {})
  }

  return {
    load: async ({ cookies }) => (await reader.current(cookies))?.session ?? null,

    async original({ cookies }) {
      const known = await reader.received(cookies)
      return known && { ...known.session, data: known.found() }
    },

    async save(exchange, given) {
      const { behind: _written, ...rest } = given
      const session = { ...rest, client: await client(), usedAt: Math.max(given.usedAt, config.clock()) }
      const jar = exchange.cookies
      const named = await reader.reference(jar)
      let kept: StoredSession | null
      if (named?.handle === session.handle && !isBegun(given)) {
        const known = await reader.current(jar)
        kept = known && (await records.write(known, session))
      } else {
        kept = await begin(given, session)
        if (named && named.handle !== session.handle) await forget(named.handle)
      }
      reader.adopt(jar, kept)
      if (kept) await stageCookie(exchange, kept)
      return kept !== null
    },

    async destroy(exchange) {
      const named = await reader.reference(exchange.cookies)
      if (named) await forget(named.handle)
      clear(exchange)
      reader.adopt(exchange.cookies, null)
    },

    async sweep(exchange) {
      if (namesIn(exchange.cookies).length === 0) return false
      return (await reader.current(exchange.cookies)) ? false : clear(exchange)
    },

    shared: {
      exclusively: exclusiveRedemption({ store, records }),
      adopt: async ({ cookies }, session) => reader.adopt(cookies, session),
      async currentId({ cookies }) {
        const named = await reader.reference(cookies)
        return named && recordId(named.handle)
      },
    },
  }
}
