import type { SessionStorage } from './storage.ts'

/** A storage of shared sessions that is loaded when it is first used: most applications keep theirs in cookies. */
export function lateStorage(load: () => Promise<SessionStorage>): SessionStorage {
  async function sharedOf(): Promise<NonNullable<SessionStorage['shared']>> {
    const { shared } = await load()
    if (!shared) throw new TypeError('a storage that is loaded late is one of shared sessions')
    return shared
  }
  return {
    load: async (exchange) => (await load()).load(exchange),
    original: async (exchange) => (await load()).original(exchange),
    save: async (exchange, session, options) => (await load()).save(exchange, session, options),
    destroy: async (exchange) => (await load()).destroy(exchange),
    sweep: async (exchange) => (await load()).sweep(exchange),
    shared: {
      exclusively: async (session, work) => (await sharedOf()).exclusively(session, work),
      adopt: async (exchange, session) => (await sharedOf()).adopt(exchange, session),
      currentId: async (exchange) => (await sharedOf()).currentId(exchange),
    },
  }
}
