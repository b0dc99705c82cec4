import type { SessionInfo } from './flows/administer-sessions.ts'
import type { OperationRunner } from './operation-options.ts'

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
  runner: OperationRunner<FrameworkRequest, object>,
): SessionAdministration<FrameworkRequest> {
  const load = () => import('./flows/administer-sessions.ts')
  return {
    listBySubject: (sub) => runner.run(async (engine) => (await load()).listSessions(engine, sub)),
    revoke: (id) => runner.run(async (engine) => (await load()).revokeSession(engine, id)),
    revokeBySubject: (sub) => runner.run(async (engine) => (await load()).revokeSessions(engine, sub)),
    currentId: async (...args: readonly unknown[]) => {
      const { request } = runner.read.withoutOptions('sessions.currentId', args)
      return runner.operate(request, undefined, async (engine, exchange) =>
        (await load()).currentSessionId(engine, exchange),
      )
    },
  }
}
