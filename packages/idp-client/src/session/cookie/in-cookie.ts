import { MAX_SEALED_CHARACTERS } from '../../crypto/seal.ts'
import type { JoinedCookie } from '../../http/chunks.ts'
import { joinedCookies, splitCookie } from '../../http/chunks.ts'
import { reportLargeHead, sumBytes } from '../../http/cookie-budget.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import type { LoadFormer } from '../former.ts'
import type { KnownSession } from '../model/lifetime.ts'
import { isAlive } from '../model/lifetime.ts'
import type { SessionData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { sessionSlot } from '../session-slot.ts'
import type { SessionStorage } from '../storage.ts'
import type { ComposedSession, Fitting, FittingSession } from './budget.ts'
import { decodeSession, encodeSession, isOtherVersion, UNDECODABLE } from './codec.ts'
import type { ConnectionCookies } from './connection-cookies.ts'
import { createConnectionCookies } from './connection-cookies.ts'
import type { SessionCookieParts, SessionCookies } from './cookies.ts'
import { createSessionCookies } from './cookies.ts'
import type { LogoutMarker } from './logout-marker.ts'
import { createLogoutMarker } from './logout-marker.ts'

export interface CookieSessionParts extends SessionCookieParts {
  /** The sessions of the library that the application used before. Default: there are none. */
  readonly former?: LoadFormer | undefined
  /** Stages the deletion of transaction cookies that do not fit beside a session that is being written. Default: none. */
  readonly limitTransactions?: (exchange: Exchange) => void
}

/**
 * Stores sessions in cookies, like `SessionStorage`. A request may carry several sessions: `save` and `destroy` return those that they
 * have replaced or ended, also if they ended in this process after the request was sent.
 */
export interface CookieSessionStorage
  extends Required<Pick<SessionStorage, 'load' | 'assertFits' | 'sweep'>> {
  save(...given: Parameters<SessionStorage['save']>): Promise<readonly StoredSession[]>
  destroy(exchange: Exchange): Promise<readonly StoredSession[]>
}

interface ReaderParts extends Omit<CookieSessionParts, 'baseUrl' | 'limitTransactions'> {
  readonly connections: ConnectionCookies
  readonly marker: LogoutMarker
}

interface Reader extends Pick<SessionStorage, 'load'> {
  /** Returns every session that the request carries, starting with the one that `load` returns. */
  loadAll(exchange: Exchange): Promise<readonly StoredSession[]>
}

/** Creates the reader, which decrypts the session of a request once. */
function reader({ config, sealer, clientTag, connections, former, marker, memory }: ReaderParts): Reader {
  const { cookie, ...rules } = config.session

  /** Returns the encrypted sessions of the request: a sibling domain or another path may have set cookies of the name. */
  const sealedIn = ({ cookies }: Exchange): readonly JoinedCookie[] => joinedCookies(cookie.name, cookies)

  /** Adds the tokens that have cookies of their own. */
  const withConnections = (exchange: Exchange, session: StoredSession): MaybePromise<StoredSession> =>
    chain(connections.read(exchange, session.sessionKey), (connectionTokenSets) => {
      if (connectionTokenSets.length > 0) session.data.connectionTokenSets = connectionTokenSets
      return session
    })

  /** Decrypts one cookie; returns null unless it is a session of this client that has neither expired nor ended at a logout. */
  const open = (exchange: Exchange, { value }: JoinedCookie): MaybePromise<StoredSession | null> =>
    chain(sealer.open('session', value), (bytes) => {
      const session = bytes && decodeSession(bytes)
      if (bytes && !session && !isOtherVersion(bytes)) config.log.once(UNDECODABLE)
      if (!session || !isAlive(session, rules, config.clock())) return null
      return chain(clientTag(), (tag) => {
        if (session.clientTag !== undefined && session.clientTag !== tag) return null
        return chain(marker.hasEnded(exchange, session), (ended) =>
          ended ? null : withConnections(exchange, session),
        )
      })
    })

  /** Returns the session of the former library, converted, unless it has ended in this browser. */
  async function takeOver(exchange: Exchange, loadFormer: LoadFormer): Promise<StoredSession | null> {
    const found = await (await loadFormer()).find(exchange)
    if (!found) return null
    if (memory?.hasEnded(found) || (await marker.hasEnded(exchange, found))) {
      found.reportNotTakenOver('ended')
      return null
    }
    const session = await found.convert()
    if (!session) return null
    found.reportTakenOver()
    // The browser has another form of it: the next response that can set cookies replaces that.
    return { ...session, needsWrite: true }
  }

  /** Returns the first live session that has not ended in this process. */
  function openFirst(
    exchange: Exchange,
    [first, ...others]: readonly JoinedCookie[],
  ): MaybePromise<StoredSession | null> {
    if (!first) return former ? takeOver(exchange, former) : null
    return chain(open(exchange, first), (session) => {
      if (!session) return openFirst(exchange, others)
      if (!memory?.hasEnded(session)) return session
      sessionSlot(exchange, config).keepsCookies = true
      return openFirst(exchange, others)
    })
  }

  function load(exchange: Exchange): MaybePromise<StoredSession | null> {
    const slot = sessionSlot(exchange, config)
    if (slot.current !== undefined) return slot.current
    if (slot.initial === undefined) slot.initial = openFirst(exchange, sealedIn(exchange))
    return slot.initial
  }

  return {
    load,

    async loadAll(exchange) {
      const first = await load(exchange)
      const found = new Map(first ? [[first.sessionKey, first]] : [])
      for (const sealed of sealedIn(exchange)) {
        const session = await open(exchange, sealed)
        if (session && !found.has(session.sessionKey)) found.set(session.sessionKey, session)
      }
      return [...found.values()]
    },
  }
}

interface PackerParts extends CookieSessionParts, Pick<SessionCookies, 'attributes'>, Pick<Reader, 'load'> {
  readonly connections: ConnectionCookies
}

/** Creates the function that encrypts a session into cookies, and leaves out tokens if it is too large. */
function packer({ attributes, clientTag, config, connections, load, memory, sealer }: PackerParts) {
  const { maxBytes, name } = config.session.cookie

  async function compose(exchange: Exchange, session: StoredSession): Promise<ComposedSession> {
    const cookieAttributes = attributes(exchange, session)
    const { connectionTokenSets, ...data } = session.data
    const plain = encodeSession({ ...session, data: data as SessionData, clientTag: await clientTag() })
    const sealed = await sealer.seal('session', plain)
    const further = await connections.write(exchange, {
      sessionKey: session.sessionKey,
      entries: connectionTokenSets ?? [],
      attributes: cookieAttributes,
    })
    // A larger value would be rejected when it is read.
    if (sealed.length > MAX_SEALED_CHARACTERS || !further)
      return { session, cookies: null, bytes: sealed.length }
    const cookies = [...splitCookie(name, sealed, cookieAttributes), ...further]
    return { session, cookies, bytes: sumBytes(cookies) }
  }

  return async (
    exchange: Exchange,
    given: StoredSession,
    limits: Pick<Fitting, 'isNew' | 'mustFit'>,
  ): Promise<FittingSession> => {
    const { accessTokens, tokenSet } = given.data
    // The application may remove them with `null`.
    const hasDetails = [tokenSet, ...(accessTokens ?? [])].some(
      (token) => token.authorizationDetails !== undefined,
    )
    const session = hasDetails
      ? (await import('./granted-details.ts')).withoutLargeDetails(config, given)
      : given
    const composed = await compose(exchange, session)
    const { cookies } = composed
    if (cookies && composed.bytes <= maxBytes) return { ...composed, cookies }
    const { fitIntoCookies } = await import('./budget.ts')
    return fitIntoCookies(composed, {
      config,
      compose: (other) => compose(exchange, other),
      ...limits,
      memory,
      lastWritten: await load(exchange),
    })
  }
}

/** Creates a storage that keeps sessions encrypted in cookies. It needs no store, and no state that processes share. */
export function createCookieSessionStorage(parts: CookieSessionParts): CookieSessionStorage {
  const { clientTag, config, former, sealer } = parts
  const connections = createConnectionCookies(config, sealer)
  const { attributes, clearAll, clearDead, isPresent, scope, stage } = createSessionCookies(parts)
  const marker = createLogoutMarker({ config, sealer, clientTag, scope })
  const { load, loadAll } = reader({ ...parts, connections, marker })
  const pack = packer({ ...parts, connections, attributes, load })

  /** Adds the session of the former library to those that the request carries, also if it cannot be verified now. */
  async function withFormer(
    exchange: Exchange,
    own: readonly StoredSession[],
  ): Promise<readonly KnownSession[]> {
    const found = await (await former?.())?.findBeside(exchange)
    return !found || own.some(({ sessionKey }) => sessionKey === found.sessionKey) ? own : [...own, found]
  }

  /** Replaces all sessions of the request by a new one, because the next request could load another one of them. */
  async function replace(exchange: Exchange, session: StoredSession): Promise<readonly StoredSession[]> {
    const isOther = ({ sessionKey }: KnownSession): boolean => sessionKey !== session.sessionKey
    const own = (await loadAll(exchange)).filter(isOther)
    const replaced = (await withFormer(exchange, own)).filter(isOther)
    if (replaced.length === 0) await marker.admit(exchange, session)
    // The time of the new login, so that the marker does not end its session.
    else await marker.leave(exchange, replaced, session.data.internal.createdAt)
    return own
  }

  return {
    load,

    async save(exchange, given, { creation, mustFit = false } = {}) {
      const limits = { mustFit, isNew: creation !== undefined }
      const { cookies, session } = await pack(exchange, given, limits)
      const isNew = (await load(exchange))?.sessionKey !== session.sessionKey
      const replaced = isNew ? await replace(exchange, session) : []
      if (former) await (await former()).clear(exchange, isNew ? undefined : session.sessionKey)
      // Before its cookies, which are withdrawn if the request has another session.
      sessionSlot(exchange, config).current = session
      await stage(exchange, session, cookies, isNew)
      parts.limitTransactions?.(exchange)
      reportLargeHead(exchange.cookies, config.log.once)
      return replaced
    },

    async assertFits(exchange, session) {
      // Saving the session reports what is left out.
      const log = { ...config.log, emit: () => undefined }
      const measure = packer({ ...parts, config: { ...config, log }, connections, attributes, load })
      await measure(exchange, session, { mustFit: true, isNew: true })
    },

    async destroy(exchange) {
      const own = await loadAll(exchange)
      const ended = await withFormer(exchange, own)
      if (ended.length > 0) await marker.leave(exchange, ended, config.clock())
      clearAll(exchange)
      if (former) await (await former()).clear(exchange)
      sessionSlot(exchange, config).current = null
      return own
    },

    async sweep(exchange) {
      return isPresent(exchange.cookies) && !(await load(exchange)) ? clearDead(exchange) : false
    },
  }
}
