import type { Config, TakeOverConfig } from '../config/config.ts'
import { derivedToken, hashToken } from '../crypto/random.ts'
import { isIdpError } from '../errors/base.ts'
import { chunkNames } from '../http/chunks.ts'
import { cookieScope } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { Lru } from '../lib/lru.ts'
import { defined } from '../lib/objects.ts'
import { atMost } from '../lib/pause.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/shared-run.ts'
import type { FormerRefusal } from '../log/log.ts'
import { countRefusal, reportRefusal } from '../log/refusal.ts'
import type { FormerSessionFound, FormerSessions, FormerUnread } from '../session/former.ts'
import { rememberedUntil } from '../session/former.ts'
import { isAlive } from '../session/model/lifetime.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import { sessionSlot } from '../session/session-slot.ts'
import type { FormerSession } from '../take-over/take-over.ts'
import type { Converted, UsedSession } from './convert.ts'
import { convert } from './convert.ts'
import { toFormerSession } from './former-session.ts'

export interface FormerParts {
  readonly config: Config
  readonly takeOver: TakeOverConfig
  readonly clientTag: () => MaybePromise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

/** Maximum number of converted sessions that this process keeps. */
const MAX_KEPT = 1000
/** How long it keeps one, in seconds: until the response to the first of parallel requests has reached the browser. */
const KEPT_SECONDS = 60
/** How long no session is converted after metadata or keys could not be loaded, in seconds: pages must not wait for a dead provider. */
const KEYS_PAUSE = 10
/** Maximum number of sessions whose take-over was reported. */
const MAX_REPORTED = 10_000

/* By session key, which only the secret of the client derives, and content: the former application may still refresh it. */
const running = () => processWide('queue:take-overs/1', () => new SingleFlight<Converted>())
const kept = () =>
  processWide(
    'state:taken-over/1',
    () => new Lru<string, { readonly session: StoredSession; readonly until: number }>(MAX_KEPT),
  )
const reported = () => processWide('mark:taken-over/1', () => new Lru<string, true>(MAX_REPORTED))

/** Returns whether a cookie is one of the former library, or a part of one. */
function isFormerName({ cookies }: TakeOverConfig, name: string): boolean {
  return cookies.some(
    (former) => name.startsWith(former) && /^(?:(?:\.|__)\d{1,3})?$/.test(name.slice(former.length)),
  )
}

/** Calls the application's `read`. Throws what it throws, or an error if it takes too long. */
async function read({ config, takeOver }: FormerParts, { cookies }: Exchange): Promise<unknown> {
  const result = Promise.resolve(
    takeOver.read({ get: (name) => cookies.get(name), names: () => cookies.names() }),
  )
  if (await atMost(config.httpTimeout, result)) return result
  throw new Error('takeOver.read took longer than httpTimeout')
}

/** Converts a session once for all requests that carry it at the same time, and those shortly after. */
async function convertOnce(config: Config, former: UsedSession, sessionKey: string): Promise<Converted> {
  const { usedAt, ...content } = former
  const key = toKey(sessionKey, await hashToken(JSON.stringify(content)))
  const known = kept().get(key)
  if (known && known.until > config.clock()) return copySession({ ...known.session, usedAt })
  // Metadata, keys, and a hook.
  const patience = 3 * config.httpTimeout
  const run = running().run(key, () => convert(config, former, sessionKey), patience)
  // Of these, only the hook has no time limit. It must not keep every page waiting.
  if (!(await atMost(2 * patience, run))) return 'hook'
  const converted = await run
  if (typeof converted === 'string') return converted
  kept().set(key, { session: converted, until: config.clock() + KEPT_SECONDS })
  return copySession(converted)
}

/** Returns the key of the session, the same in every process and for every request. */
async function toSessionKey(
  { clientTag, config, takeOver }: FormerParts,
  { createdAt, id, sid, user }: FormerSession,
): Promise<string> {
  const name = toKey(
    await clientTag(),
    takeOver.library,
    user.sub,
    sid ?? user['sid'] ?? null,
    id ?? createdAt,
  )
  // The last secret is the one that a rotation keeps the longest: the key must not change while its name is remembered.
  const secret = config.secrets.at(-1) ?? config.secrets[0]
  return derivedToken(secret, 'take-over', name)
}

/** Returns the session in the former cookies, or the reason why they contain none. */
async function readFormer(
  parts: FormerParts,
  exchange: Exchange,
): Promise<{ readonly former: UsedSession } | FormerUnread> {
  const { config } = parts
  let given: unknown
  try {
    given = await read(parts, exchange)
  } catch (thrown) {
    return { reason: 'reader', thrown }
  }
  if (given === null) return { reason: 'unreadable' }
  const now = config.clock()
  const former = toFormerSession(given, now)
  if (!former) return { reason: 'reader' }
  const { createdAt, expiresAt, sessionExpiresAt } = former
  // Alive by its former end, so it was used: only the time is not known.
  const usedAt = former.usedAt ?? (expiresAt === undefined ? createdAt : now)
  const isOver = expiresAt !== undefined && expiresAt <= now
  const internal = defined({ createdAt, sessionExpiresAt })
  return !isOver && isAlive({ usedAt, data: { internal } }, config.session, now)
    ? { former: { ...former, usedAt } }
    : { reason: 'expired' }
}

/** Stages the deletion of the former cookies. */
function clearCookies({ baseUrl, config, takeOver }: FormerParts, exchange: Exchange): void {
  const names = exchange.cookies.names().filter((name) => isFormerName(takeOver, name))
  if (names.length === 0) return
  const own = cookieScope(config.session.cookie, () => baseUrl(exchange))
  const { domain: _own, ...attributes } = own
  const former = defined({ ...attributes, path: takeOver.path, domain: takeOver.domain })
  // A response sets a cookie of a name once: for a name that both libraries use, with the scope of our cookie.
  const shared = new Set(chunkNames(config.session.cookie.name, names))
  for (const name of names) exchange.cookies.clear({ name, scope: shared.has(name) ? own : former })
}

/** Creates what storages need to take over the sessions of a former library. */
export function createFormerSessions(parts: FormerParts): FormerSessions {
  const { config, takeOver } = parts
  const { library, until } = takeOver
  /** When metadata or keys could not be loaded, in seconds since the epoch. */
  let keysFailedAt = Number.NEGATIVE_INFINITY

  async function convertUnlessDown(former: UsedSession, sessionKey: string): Promise<Converted> {
    if (Math.abs(config.clock() - keysFailedAt) < KEYS_PAUSE) return 'keys'
    const converted = await convertOnce(config, former, sessionKey)
    if (converted === 'keys') keysFailedAt = config.clock()
    return converted
  }

  function reportNotTakenOver(reason: FormerRefusal): void {
    const more = countRefusal(config, `SESSION_NOT_TAKEN_OVER ${reason}`)
    if (more === undefined) return
    const level = reason === 'reader' || reason === 'hook' || reason === 'keys' ? 'warn' : 'info'
    config.log.emit({ level, code: 'SESSION_NOT_TAKEN_OVER', library, reason, more })
  }

  async function find(exchange: Exchange): Promise<FormerSessionFound | FormerUnread | null> {
    if (config.clock() >= until) return null
    if (!exchange.cookies.names().some((name) => isFormerName(takeOver, name))) return null
    const result = await readFormer(parts, exchange)
    if ('reason' in result) return result
    const { former } = result
    const { createdAt, user, usedAt } = former
    const { sid = user['sid'] } = former
    const sessionKey = await toSessionKey(parts, former)
    return {
      sessionKey,
      usedAt,
      data: { internal: defined({ sid: typeof sid === 'string' ? sid : undefined, createdAt }) },
      async convert() {
        const converted = await convertUnlessDown(former, sessionKey)
        if (typeof converted !== 'string') return converted
        reportNotTakenOver(converted)
        return null
      },
      reportTakenOver() {
        if (reported().get(sessionKey)) return
        reported().set(sessionKey, true)
        config.log.emit({ level: 'info', code: 'SESSION_TAKEN_OVER', library })
      },
      reportNotTakenOver,
    }
  }

  /** Reads the cookies once per request. */
  function findOnce(exchange: Exchange): Promise<FormerSessionFound | FormerUnread | null> {
    const slot = sessionSlot(exchange, config)
    slot.former ??= find(exchange)
    return slot.former
  }

  async function findBeside(exchange: Exchange): Promise<FormerSessionFound | null> {
    const found = await findOnce(exchange)
    return found && 'reason' in found ? null : found
  }

  return {
    rememberedUntil: () => rememberedUntil(config, until),

    async find(exchange) {
      const found = await findOnce(exchange)
      if (!found || !('reason' in found)) return found
      // A secret that is not set, for example: nothing of a request is in such an error.
      if (isIdpError(found.thrown, 'INVALID_CONFIGURATION')) reportRefusal(config, found.thrown, 'error')
      else if (found.thrown !== undefined) config.log.printException(found.thrown)
      reportNotTakenOver(found.reason)
      return null
    },

    findBeside,

    async clear(exchange, sessionKey) {
      if (sessionKey !== undefined && (await findBeside(exchange))?.sessionKey !== sessionKey) return
      clearCookies(parts, exchange)
    },
  }
}
