import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import { timesOf } from './cookies.ts'
import { isAlive, rollIsDue } from './lifetime.ts'
import type { SessionReference } from './reference.ts'
import { decodeReference } from './reference.ts'
import type { Known, StoreRecords } from './store-records.ts'
import type { StoredSession } from './stored-session.ts'

export interface StoreReaderParts {
  readonly config: Config
  readonly sealer: Sealer
  readonly client: () => Promise<string>
  readonly records: StoreRecords
}

/** What the requests of one client know of their sessions; by cookie jar, so that no two requests meet. */
export interface StoreReader {
  /** What the request's cookie names; null when it opens as nothing of this client. Asks no store. */
  reference(jar: CookieJar): Promise<SessionReference | null>
  /** The live session as the store had it when it was first asked for. */
  received(jar: CookieJar): Promise<Known | null>
  /** The same, with what the request did since. */
  current(jar: CookieJar): Promise<Known | null>
  /** The request goes on with this session; null: without one. */
  adopt(jar: CookieJar, session: StoredSession | null): void
  /** The request's cookie is to be this one. */
  refer(jar: CookieJar, reference: SessionReference): void
}

export function storeReader({ client, config, records, sealer }: StoreReaderParts): StoreReader {
  const { cookie, ...rules } = config.session
  const references = new WeakMap<CookieJar, Promise<SessionReference | null>>()
  const first = new WeakMap<CookieJar, Promise<Known | null>>()
  const latest = new WeakMap<CookieJar, Known | null>()

  /** Others may have put a cookie of the name beside ours (a sibling domain, another path): it hides no session. */
  async function readReference(jar: CookieJar): Promise<SessionReference | null> {
    for (const sealed of jar.all(cookie.name)) {
      const bytes = await sealer.open('session-id', sealed)
      const reference = bytes && decodeReference(bytes)
      if (reference && reference.client === (await client())) return reference
    }
    return null
  }

  function reference(jar: CookieJar): Promise<SessionReference | null> {
    const found = references.get(jar) ?? readReference(jar)
    references.set(jar, found)
    return found
  }

  async function open(jar: CookieJar): Promise<Known | null> {
    const named = await reference(jar)
    const known = named && (await records.read(named.handle))
    if (!known) return null
    const { session } = known
    if (session.client !== undefined && session.client !== named.client) return null
    const now = config.clock()
    if (!isAlive(timesOf(session), rules, now)) return null
    const { createdAt } = session.data.internal
    const isOld = rollIsDue({ createdAt, usedAt: named.writtenAt }, rules, now)
    return isOld ? { ...known, session: { ...session, behind: true } } : known
  }

  function received(jar: CookieJar): Promise<Known | null> {
    const known = first.get(jar) ?? open(jar)
    first.set(jar, known)
    return known
  }

  return {
    reference,
    received,
    current: async (jar) => (latest.has(jar) ? (latest.get(jar) ?? null) : received(jar)),
    adopt(jar, session) {
      latest.set(jar, session && records.known(session))
    },
    refer(jar, found) {
      references.set(jar, Promise.resolve(found))
    },
  }
}
