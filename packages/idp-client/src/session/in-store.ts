import type { Config } from '../config/config.ts'
import type { SessionDataStore } from '../config/options.ts'
import type { Sealer } from '../crypto/seal.ts'
import { IdpError } from '../errors/base.ts'
import { chunkNames } from '../http/chunks.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { connectionCookies } from './connection-cookies.ts'
import { sessionCookies, timesOf } from './cookies.ts'
import { guardedStore } from './guarded-store.ts'
import { endsAt, isAlive, rollIsDue } from './lifetime.ts'
import { recordId } from './record.ts'
import type { SessionReference } from './reference.ts'
import { decodeReference, encodeReference } from './reference.ts'
import type { SessionChange, SessionStorage } from './storage.ts'
import type { Known } from './store-records.ts'
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

/** What a redemption tried with; another process may have gone on from it. */
function isSpent(tried: StoredSession, now: StoredSession): boolean {
  return tried.data.tokenSet.refreshToken !== now.data.tokenSet.refreshToken
}

/**
 * Sessions in the application's store; the cookie holds nothing but a sealed random name. A record that is gone stays
 * gone: nothing but a login creates one.
 */
export function inStore({ baseUrl, client, config, sealer, store }: InStoreParts): SessionStorage {
  const { cookie, ...rules } = config.session
  const guarded = guardedStore(config, store, isSessionData)
  const records = storeRecords(guarded, (session) => endsAt(timesOf(session), rules))
  const connections = connectionCookies(cookie.name, sealer)
  const namesIn = (jar: CookieJar): string[] => [
    ...chunkNames(cookie.name, jar.names()),
    // Of the time when sessions were in cookies.
    ...connections.names(jar),
  ]
  const { attributes, clear } = sessionCookies({ config, baseUrl, namesIn })

  const references = new WeakMap<CookieJar, Promise<SessionReference | null>>()
  const received = new WeakMap<CookieJar, Promise<Known | null>>()
  const current = new WeakMap<CookieJar, Known | null>()

  async function readReference(jar: CookieJar): Promise<SessionReference | null> {
    const sealed = jar.get(cookie.name)
    const bytes = sealed ? await sealer.open('session-id', sealed) : null
    const reference = bytes && decodeReference(bytes)
    return reference && reference.client === (await client()) ? reference : null
  }

  function referenceOf(jar: CookieJar): Promise<SessionReference | null> {
    const reference = references.get(jar) ?? readReference(jar)
    references.set(jar, reference)
    return reference
  }

  async function open(jar: CookieJar): Promise<Known | null> {
    const reference = await referenceOf(jar)
    if (!reference) return null
    const known = await records.read(reference.handle)
    if (!known) return null
    const { session } = known
    if (session.client !== undefined && session.client !== reference.client) return null
    const now = config.clock()
    if (!isAlive(timesOf(session), rules, now)) return null
    const { createdAt } = session.data.internal
    const isOld = rollIsDue({ createdAt, usedAt: reference.writtenAt }, rules, now)
    return isOld ? { ...known, session: { ...session, behind: true } } : known
  }

  function receive(jar: CookieJar): Promise<Known | null> {
    const known = received.get(jar) ?? open(jar)
    received.set(jar, known)
    return known
  }

  const knownIn = async (jar: CookieJar): Promise<Known | null> =>
    current.has(jar) ? (current.get(jar) ?? null) : receive(jar)

  function adopt(jar: CookieJar, session: StoredSession): void {
    current.set(jar, records.known(session))
  }

  async function stageCookie(exchange: Exchange, session: StoredSession): Promise<void> {
    const { httpOnly: _always, maxAge, ...scope } = attributes(exchange, session)
    const reference = { client: await client(), handle: session.handle, writtenAt: config.clock() }
    const value = await sealer.seal('session-id', encodeReference(reference))
    clear(exchange, new Set([cookie.name]))
    exchange.cookies.set({ name: cookie.name, scope }, value, maxAge)
    references.set(exchange.cookies, Promise.resolve(reference))
    const bytes = cookie.name.length + 1 + value.length
    config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: 1 })
  }

  /** A failure is in the log; whoever logs out or in is not kept from it. */
  async function forget(handle: string): Promise<void> {
    await records.forget(handle).catch(() => {})
  }

  async function create(exchange: Exchange, session: StoredSession): Promise<void> {
    const before = await referenceOf(exchange.cookies)
    await records.create(session)
    if (before) await forget(before.handle)
    adopt(exchange.cookies, session)
    await stageCookie(exchange, session)
  }

  async function attempt<T extends SessionChange>(
    known: Known,
    work: (session: StoredSession) => Promise<T>,
  ): Promise<{ readonly result: T; readonly from: Known }> {
    const result = await work(known.session)
    if (result.failure === undefined) return { result, from: known }
    const now = await records.read(known.session.handle)
    // Another process was quicker: what it brought may be all that is wanted.
    return now && isSpent(known.session, now.session)
      ? { result: await work(now.session), from: now }
      : { result, from: known }
  }

  return {
    load: async ({ cookies }) => (await knownIn(cookies))?.session ?? null,

    async original({ cookies }) {
      const known = await receive(cookies)
      return known && { ...known.session, data: known.found() }
    },

    async save(exchange, given) {
      const { behind: _written, ...rest } = given
      const session = { ...rest, client: await client(), usedAt: Math.max(rest.usedAt, config.clock()) }
      const jar = exchange.cookies
      // Nothing is read where the cookie tells already that this is a new login.
      if ((await referenceOf(jar))?.handle !== session.handle) {
        await create(exchange, session)
        return true
      }
      const known = await knownIn(jar)
      const kept = known && (await records.write(known, session))
      if (!kept) {
        current.set(jar, null)
        return false
      }
      adopt(jar, kept)
      await stageCookie(exchange, kept)
      return true
    },

    async destroy(exchange) {
      const reference = await referenceOf(exchange.cookies)
      if (reference) await forget(reference.handle)
      clear(exchange)
      current.set(exchange.cookies, null)
    },

    async sweep(exchange) {
      if (namesIn(exchange.cookies).length === 0) return false
      return (await knownIn(exchange.cookies)) ? false : clear(exchange)
    },

    shared: {
      adopt: (exchange, session) => adopt(exchange.cookies, session),

      async currentId({ cookies }) {
        const reference = await referenceOf(cookies)
        return reference && recordId(reference.handle)
      },

      async exclusively(session, work) {
        const id = await recordId(session.handle)
        const lease = await guarded.lock?.(id)
        let written = true
        try {
          const known = lease ? await records.read(session.handle) : records.known(session)
          if (!known) throw new IdpError('MISSING_SESSION')
          const { from, result } = await attempt(known, work)
          if (result.session === from.session) return result
          const kept = await records.keep(from, result.session)
          written = kept.written
          return { ...result, session: kept.session }
        } finally {
          // What could not be written is in this process only: for as long as it has the lease nobody else spends it.
          if (written) await lease?.release().catch(() => {})
        }
      },
    },
  }
}
