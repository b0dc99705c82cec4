import type { SessionStorage, SharedSessionStorage } from './storage.ts'

/** A storage of shared sessions that is loaded when it is first used: most applications keep theirs in cookies. */
export function lateStorage(load: () => Promise<SharedSessionStorage>): SessionStorage {
  return {
    load: async (exchange) => (await load()).load(exchange),
    initial: async (exchange) => (await load()).initial(exchange),
    save: async (exchange, session, options) => (await load()).save(exchange, session, options),
    destroy: async (exchange) => (await load()).destroy(exchange),
    sweep: async (exchange) => (await load()).sweep(exchange),
    shared: {
      exclusively: async (session, work) => (await load()).shared.exclusively(session, work),
      adopt: async (exchange, session) => (await load()).shared.adopt(exchange, session),
      currentId: async (exchange) => (await load()).shared.currentId(exchange),
    },
  }
}
