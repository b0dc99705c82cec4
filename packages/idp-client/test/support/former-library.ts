import type { SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { FormerSession, TakeOver } from '../../src/take-over/take-over.ts'
import type { Browser, World } from './app.ts'

/** A former library whose cookie is the session, in clear text, for 30 days. */
export function createFormerLibrary(
  { clock }: Pick<World, 'clock'>,
  changes: Partial<TakeOver> = {},
): TakeOver {
  return {
    until: new Date((clock.now + 30 * 86_400) * 1000).toISOString().slice(0, 10),
    cookies: 'former',
    library: 'tests',
    read: (cookies) => JSON.parse(decodeURIComponent(cookies.get('former') ?? 'null')),
    ...changes,
  }
}

/** A session as the former library left it: of a login at the provider, with its tokens. */
export async function createFormerSession(
  world: Pick<World, 'another' | 'login'>,
  changes: Partial<FormerSession> = {},
): Promise<FormerSession> {
  const { browser } = world.another()
  await world.login(browser)
  const { internal, tokenSet, user } = await browser.session()
  const { idToken, ...tokens } = tokenSet
  return { user, createdAt: internal.createdAt, sid: internal.sid, idToken, tokens, ...changes }
}

/** Sets the cookie of the former library. */
export function putFormer(browser: Browser, former: unknown, name = 'former'): void {
  browser.cookies.set(name, { value: encodeURIComponent(JSON.stringify(former)), text: '', path: '/' })
}

/** A store of its own, with the clock of the tests. */
export function createStore({ clock }: Pick<World, 'clock'>): Required<SessionDataStore> {
  return memoryStore({ name: crypto.randomUUID(), clock: () => clock.now })
}
