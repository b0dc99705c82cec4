import type { Sealer } from '../../crypto/seal.ts'
import { MAX_SEALED_CHARACTERS } from '../../crypto/seal.ts'
import type { NamedValue } from '../../http/chunks.ts'
import { chunkNames, joinedCookies, splitCookie } from '../../http/chunks.ts'
import type { CookieAttributes, CookieJar } from '../../http/cookie-jar.ts'
import { strictText, utf8 } from '../../lib/base64url.ts'
import type { ConnectionTokenSet } from '../model/session-data.ts'

/** Tokens of connections have cookies of their own, `<session name>__conn_<n>`: most requests need none of them. */
export interface ConnectionCookies {
  /** Those that belong to the session with this key; others are no tokens of its user. */
  read(jar: CookieJar, sessionKey: string): Promise<ConnectionTokenSet[]>
  /** Null when they are too many or too large to be read again. */
  write(
    sessionKey: string,
    entries: readonly ConnectionTokenSet[],
    attributes: CookieAttributes,
  ): Promise<readonly NamedValue[] | null>
}

const VERSION = 1
const MOST = 32

function decode(bytes: Uint8Array, sessionKey: string): ConnectionTokenSet | null {
  try {
    const { v, h, t } = JSON.parse(strictText(bytes)) as Record<string, unknown>
    if (v !== VERSION || h !== sessionKey || typeof t !== 'object' || t === null) return null
    const { accessToken, connection, expiresAt } = t as Partial<ConnectionTokenSet>
    const whole =
      typeof accessToken === 'string' && typeof connection === 'string' && Number.isFinite(expiresAt)
    return whole ? (t as ConnectionTokenSet) : null
  } catch {
    return null
  }
}

const toPrefix = (sessionName: string): string => `${sessionName}__conn_`

/** Those of `names` that are cookies of this kind, readable or not. */
export function connectionCookieNames(sessionName: string, names: readonly string[]): string[] {
  const prefix = toPrefix(sessionName)
  return names.filter((name) => name.startsWith(prefix) && /^\d+(?:__\d+)?$/.test(name.slice(prefix.length)))
}

/** Names of the cookies with tokens of the session with this key, complete ones and parts. */
export async function listConnectionCookies(
  sessionKey: string,
  jar: CookieJar,
  sessionName: string,
  sealer: Sealer,
): Promise<ReadonlySet<string>> {
  const own = new Set<string>()
  for (let index = 0; index < MOST; index++) {
    const all = joinedCookies(toPrefix(sessionName) + index, (name) => jar.all(name))
    for (const { names, value } of all) {
      const bytes = await sealer.open('connection', value)
      if (bytes && decode(bytes, sessionKey)) for (const name of names) own.add(name)
    }
  }
  return own
}

export function connectionCookies(sessionName: string, sealer: Sealer): ConnectionCookies {
  const prefix = toPrefix(sessionName)
  // An unchanged entry is not encrypted again, unless the secret has changed; its cookie gets a new lifetime.
  const texts = new WeakMap<ConnectionTokenSet, { readonly sessionKey: string; readonly text: string }>()

  async function readOne(
    jar: CookieJar,
    index: number,
    sessionKey: string,
  ): Promise<ConnectionTokenSet | null> {
    for (const { value: text } of joinedCookies(prefix + index, (name) => jar.all(name))) {
      const bytes = await sealer.open('connection', text)
      const entry = bytes && decode(bytes, sessionKey)
      if (!entry) continue
      texts.set(entry, { sessionKey, text })
      return entry
    }
    return null
  }

  async function textOf(sessionKey: string, entry: ConnectionTokenSet): Promise<string> {
    const known = texts.get(entry)
    if (known?.sessionKey === sessionKey && (await sealer.isCurrent('connection', known.text)))
      return known.text
    return sealer.seal('connection', utf8(JSON.stringify({ v: VERSION, h: sessionKey, t: entry })))
  }

  return {
    async read(jar, sessionKey) {
      const entries: ConnectionTokenSet[] = []
      const names = jar.names()
      for (let index = 0; index < MOST && chunkNames(prefix + index, names).length > 0; index++) {
        const entry = await readOne(jar, index, sessionKey)
        if (entry) entries.push(entry)
      }
      return entries
    },

    async write(sessionKey, entries, attributes) {
      if (entries.length > MOST) return null
      const texts = await Promise.all(entries.map((entry) => textOf(sessionKey, entry)))
      if (texts.some(({ length }) => length > MAX_SEALED_CHARACTERS)) return null
      return texts.flatMap((text, index) => splitCookie(prefix + index, text, attributes))
    },
  }
}
