import type { Config } from '../../config/config.ts'
import type { Sealer } from '../../crypto/seal.ts'
import { MAX_SEALED_CHARACTERS } from '../../crypto/seal.ts'
import type { NamedValue } from '../../http/chunks.ts'
import { chunkNames, joinedCookies, splitCookie } from '../../http/chunks.ts'
import type { CookieAttributes, CookieJar } from '../../http/cookie-jar.ts'
import type { RequestCookies } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { decodeJsonObject } from '../../lib/json.ts'
import { utf8 } from '../../lib/utf8.ts'
import type { ConnectionTokenSet } from '../model/session-data.ts'
import { sessionSlot } from '../session-slot.ts'

/** Connection tokens have cookies of their own, `<session name>__conn_<n>`: most requests need none of them. */
export interface ConnectionCookies {
  /** Returns the tokens of the session with this key. Those of other sessions are not of its user. */
  read(exchange: RequestCookies, sessionKey: string): MaybePromise<ConnectionTokenSet[]>
  /** Returns the cookies of a session's tokens; null if these are too many or too large to be read again. */
  write(exchange: RequestCookies, tokens: SessionTokens): Promise<readonly NamedValue[] | null>
}

/** The connection tokens of one session, and the attributes of their cookies. */
export interface SessionTokens {
  readonly sessionKey: string
  readonly entries: readonly ConnectionTokenSet[]
  readonly attributes: CookieAttributes
}

const VERSION = 1
/** Maximum number of connection tokens of a session. */
const MAX_TOKENS = 32

function decode(bytes: Uint8Array, sessionKey: string): ConnectionTokenSet | null {
  const { v, h, t } = decodeJsonObject(bytes) ?? {}
  if (v !== VERSION || h !== sessionKey || typeof t !== 'object' || t === null) return null
  const { accessToken, connection } = t as Partial<ConnectionTokenSet>
  return typeof accessToken === 'string' && typeof connection === 'string' ? (t as ConnectionTokenSet) : null
}

const toPrefix = (sessionName: string): string => `${sessionName}__conn_`

/** Returns the names of such cookies in a request, readable or not. */
export function connectionCookieNames(sessionName: string, jar: CookieJar): string[] {
  const prefix = toPrefix(sessionName)
  return jar.names(prefix).filter((name) => /^\d+(?:__\d+)?$/.test(name.slice(prefix.length)))
}

/** Decrypts the cookies with one name, and returns those with a token of the session with this key. */
async function openCookies(sealer: Sealer, jar: CookieJar, name: string, sessionKey: string) {
  const found: { entry: ConnectionTokenSet; names: readonly string[]; sealed: string }[] = []
  for (const { names, value: sealed } of joinedCookies(name, jar)) {
    const bytes = await sealer.open('connection', sealed)
    const entry = bytes && decode(bytes, sessionKey)
    if (entry) found.push({ entry, names, sealed })
  }
  return found
}

/** Returns the names of the cookies with tokens of the session with this key, complete ones and parts. */
export async function listConnectionCookies(
  sessionKey: string,
  jar: CookieJar,
  sessionName: string,
  sealer: Sealer,
): Promise<ReadonlySet<string>> {
  const own = new Set<string>()
  for (let index = 0; index < MAX_TOKENS; index++) {
    const found = await openCookies(sealer, jar, toPrefix(sessionName) + index, sessionKey)
    for (const name of found.flatMap(({ names }) => names)) own.add(name)
  }
  return own
}

export function createConnectionCookies(config: Config, sealer: Sealer): ConnectionCookies {
  const prefix = toPrefix(config.session.cookie.name)

  async function readAll(
    exchange: RequestCookies,
    names: readonly string[],
    sessionKey: string,
  ): Promise<ConnectionTokenSet[]> {
    const slot = sessionSlot(exchange, config)
    const entries: ConnectionTokenSet[] = []
    for (let index = 0; index < MAX_TOKENS && chunkNames(prefix + index, names).length > 0; index++) {
      const [found] = await openCookies(sealer, exchange.cookies, prefix + index, sessionKey)
      if (!found) continue
      slot.sealedConnectionTokens ??= new Map()
      slot.sealedConnectionTokens.set(found.entry, { sessionKey, sealed: found.sealed })
      entries.push(found.entry)
    }
    return entries
  }

  /** Does not encrypt an unchanged token again, unless the secret has changed; its cookie gets a new lifetime. */
  async function seal(
    exchange: RequestCookies,
    sessionKey: string,
    entry: ConnectionTokenSet,
  ): Promise<string> {
    const known = sessionSlot(exchange, config).sealedConnectionTokens?.get(entry)
    if (known?.sessionKey === sessionKey && (await sealer.isCurrent('connection', known.sealed)))
      return known.sealed
    return sealer.seal('connection', utf8(JSON.stringify({ v: VERSION, h: sessionKey, t: entry })))
  }

  return {
    read(exchange, sessionKey) {
      const names = exchange.cookies.names(prefix)
      return names.length === 0 ? [] : readAll(exchange, names, sessionKey)
    },

    async write(exchange, { attributes, entries, sessionKey }) {
      if (entries.length > MAX_TOKENS) return null
      const values = await Promise.all(entries.map((entry) => seal(exchange, sessionKey, entry)))
      if (values.some(({ length }) => length > MAX_SEALED_CHARACTERS)) return null
      return values.flatMap((value, index) => splitCookie(prefix + index, value, attributes))
    },
  }
}
