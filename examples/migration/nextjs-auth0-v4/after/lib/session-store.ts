import type { LogoutToken, SessionData, SessionDataStore } from 'idp-client/next'

// One map for all copies of this module in the process.
const holder = globalThis as { shopSessions?: Map<string, SessionData> }
holder.shopSessions ??= new Map()
const sessions = holder.shopSessions

export const sessionStore: SessionDataStore = {
  async get(id) {
    return sessions.get(id) ?? null
  },
  async set(id, session) {
    sessions.set(id, session)
  },
  async update(id, change) {
    const current = sessions.get(id)
    if (!current) return null
    const next = change(current)
    sessions.set(id, next)
    return next
  },
  async delete(id) {
    sessions.delete(id)
  },
  async deleteByLogoutToken({ sid, sub }: LogoutToken) {
    for (const [id, { internal, user }] of sessions) {
      if (sid ? internal.sid === sid : user.sub === sub) sessions.delete(id)
    }
  },
}
