import type { Adapter, AdapterPayload } from 'oidc-provider'

/** Everything that one provider has issued; nothing is shared between providers. */
export interface Store {
  /** Persistence of one model, for oidc-provider. */
  adapter(model: string): Adapter
  /** A record, expired ones included. */
  find(model: string, id: string): AdapterPayload | undefined
  destroy(model: string, id: string): void
  /** Unexpired records of a model. */
  list(model: string): readonly AdapterPayload[]
}

// oidc-provider tells an expired code from an unknown one, so expired records stay a while.
const SWEEP_ABOVE = 10_000

/** A store whose records expire by the given clock (seconds). */
export function createStore(now: () => number): Store {
  const models = new Map<string, Map<string, AdapterPayload>>()

  const getRecords = (model: string): Map<string, AdapterPayload> => {
    const existing = models.get(model)
    if (existing) return existing
    const created = new Map<string, AdapterPayload>()
    models.set(model, created)
    return created
  }
  const live = (payload: AdapterPayload): boolean => payload.exp === undefined || payload.exp > now()
  const find = (model: string, id: string): AdapterPayload | undefined => {
    const payload = getRecords(model).get(id)
    return payload && structuredClone(payload)
  }
  const sweep = (records: Map<string, AdapterPayload>): void => {
    if (records.size < SWEEP_ABOVE || records.size % SWEEP_ABOVE !== 0) return
    for (const [id, payload] of records) if (!live(payload)) records.delete(id)
  }
  const findBy = (model: string, match: (payload: AdapterPayload) => boolean): AdapterPayload | undefined => {
    for (const payload of getRecords(model).values()) {
      if (live(payload) && match(payload)) return structuredClone(payload)
    }
    return undefined
  }

  const adapter = (model: string): Adapter => ({
    upsert: async (id, payload) => {
      const records = getRecords(model)
      records.set(id, structuredClone(payload))
      sweep(records)
    },
    find: async (id) => find(model, id),
    findByUid: async (uid) => findBy(model, (payload) => payload.uid === uid),
    findByUserCode: async (code) => findBy(model, (payload) => payload.userCode === code),
    consume: async (id) => {
      const payload = getRecords(model).get(id)
      if (payload) payload.consumed = now()
    },
    destroy: async (id) => {
      getRecords(model).delete(id)
    },
    revokeByGrantId: async (grantId) => {
      const records = getRecords(model)
      for (const [id, payload] of records) if (payload.grantId === grantId) records.delete(id)
    },
  })

  return {
    adapter,
    find,
    destroy: (model, id) => {
      getRecords(model).delete(id)
    },
    list: (model) => [...getRecords(model).values()].filter(live),
  }
}
