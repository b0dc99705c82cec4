import type { Engine } from './engine.ts'
import type { SessionInfo } from './flows/administer-sessions.ts'
import type { Exchange } from './http/exchange.ts'
import type { ArgumentReader } from './http/host-arguments.ts'

/** Administration of sessions in a store. Without a store every method throws `SESSION_STORE_UNSUPPORTED`. */
export interface SessionAdministration<FrameworkRequest> {
  /** Returns the user's live sessions on all devices, most recently used first. Needs `listBySubject` of the store. */
  listBySubject(sub: string): Promise<SessionInfo[]>
  /** Ends one session at once, in every process; its tokens at the provider stay valid. */
  revoke(id: string): Promise<void>
  /**
   * Ends every session of the user and returns their number. Needs `listBySubject` or `deleteBySubject` of the store.
   */
  revokeBySubject(sub: string): Promise<number>
  /** Returns the id of this request's own session, to tell it from the user's others, or `null` without one. */
  currentId(request?: FrameworkRequest): Promise<string | null>
}

/** Creates `idp.sessions` for one host; its flow is loaded on first use. */
export function sessionAdministration<FrameworkRequest extends object>(
  read: ArgumentReader<FrameworkRequest, object>,
  withEngine: <T>(operation: (engine: Engine) => Promise<T>) => Promise<T>,
  operate: <T>(
    request: FrameworkRequest | undefined,
    operation: (engine: Engine, exchange: Exchange) => Promise<T>,
  ) => Promise<T>,
): SessionAdministration<FrameworkRequest> {
  const load = () => import('./flows/administer-sessions.ts')
  return {
    listBySubject: (sub) => withEngine(async (engine) => (await load()).listSessions(engine, sub)),
    revoke: (id) => withEngine(async (engine) => (await load()).revokeSession(engine, id)),
    revokeBySubject: (sub) => withEngine(async (engine) => (await load()).revokeSessions(engine, sub)),
    currentId: async (...args: readonly unknown[]) => {
      const { request } = read.withoutOptions('sessions.currentId', args)
      return operate(request, async (engine, exchange) => (await load()).currentSessionId(engine, exchange))
    },
  }
}
