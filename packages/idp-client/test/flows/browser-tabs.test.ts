import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { UserEntry } from '../../src/browser/index.ts'
import type { Browser } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, startMfaWorld, TTL } from '../support/mfa.ts'
import type { Page } from '../support/page.ts'
import { openPage } from '../support/page.ts'
import { PATIENT } from '../support/timeouts.ts'

type Entry = typeof import('../../src/browser/index.ts')

interface Tab extends Entry {
  readonly page: Page
  /** Every state since it shows the user. */
  readonly states: ReturnType<UserEntry['current']>[]
  readonly asked: (path: string) => number
  close(): void
}

let world: MfaWorld
let browser: Browser
let opened: Tab[]
beforeAll(async () => {
  world = await startMfaWorld()
})
afterAll(() => world.provider.stop())
beforeEach(async () => {
  world.provider.faults.clear()
  opened = []
  browser = await world.signedIn('alice', world.newBrowser())
})
afterEach(() => {
  for (const tab of opened) tab.close()
  vi.unstubAllGlobals()
})

/** A tab of the browser: a window and modules of its own, which shows the user if it is asked to. */
async function openTab({ shows = true } = {}): Promise<Tab> {
  vi.resetModules()
  const entry: Entry = await import('../../src/browser/index.ts')
  const page = openPage(browser)
  const states: Tab['states'] = []
  const end = shows ? show(entry, states) : undefined
  if (shows) await entry.fetchUser()
  const tab: Tab = {
    ...entry,
    page,
    states,
    asked: (path) => page.requests.filter(({ url }) => new URL(url).pathname === path).length,
    close: () => {
      end?.()
      page.fire('pagehide')
    },
  }
  opened.push(tab)
  page.requests.length = 0
  return tab
}

function show({ userStore }: Entry, states: Tab['states']): () => void {
  const { current, subscribe } = userStore()
  return subscribe(() => states.push(current()))
}

const shown = ({ userStore }: Entry): string | null => userStore().current().user?.sub ?? null

/** Until a message that was sent last has arrived, and so all before it. */
async function delivered(): Promise<void> {
  const [from, to] = [new BroadcastChannel('test'), new BroadcastChannel('test')]
  await new Promise((done) => {
    to.onmessage = done
    from.postMessage(null)
  })
  from.close()
  to.close()
}

describe('tabs', () => {
  test('a message that arrives when a test has removed the page does nothing', async () => {
    const tab = await openTab({ shows: false })
    await tab.fetchUser()
    vi.unstubAllGlobals()
    const other = new BroadcastChannel('idp-client')
    other.postMessage('dev|bob')
    other.close()
    // An error in the listener would end the run.
    await delivered()
    expect(tab.asked('/auth/profile')).toBe(1)
  })

  test('a logout that one of them detects reaches all, with one request each', async () => {
    const tabs = [await openTab(), await openTab(), await openTab()]
    await delivered()
    const requests = tabs.map(({ page }) => page.requests)
    for (const list of requests) list.length = 0
    browser.cookies.clear()
    await tabs[0]?.fetchUser()
    await vi.waitFor(() => expect(tabs.map(shown)).toEqual([null, null, null]), PATIENT)
    await delivered()
    await delivered()
    // The fetch of the last window serves all, because all of them use the same global.
    expect(tabs.map(({ states }) => states.filter(({ user }) => user === null))).toEqual(
      tabs.map(() => [{ user: null, isLoading: false, error: null }]),
    )
    expect(requests.flat()).toHaveLength(3)
  })

  test('another tab of the same user causes no request in the others', async () => {
    const first = await openTab()
    const second = await openTab()
    await delivered()
    expect([...first.page.requests, ...second.page.requests]).toEqual([])
  })

  test('another user reaches all, and tokens of the previous user are removed', async () => {
    const first = await openTab()
    const second = await openTab()
    const before = await second.getAccessToken()
    await world.login(browser, '', { user: 'bob' })
    await first.fetchUser()
    await vi.waitFor(() => expect(shown(second)).toBe('dev|bob'), PATIENT)
    expect(await second.getAccessToken()).not.toBe(before)
  })

  test('another organization of the same user reaches all, and tokens of the previous one are removed', async () => {
    const first = await openTab()
    const second = await openTab()
    const before = await second.getAccessToken()
    await world.login(browser, '?organization=org_acme')
    await first.fetchUser()
    await vi.waitFor(() => expect(second.userStore().current().user?.org_id).toBe('org_acme'), PATIENT)
    expect(await second.getAccessToken()).not.toBe(before)
  })

  test('a tab that shows no user drops its tokens', async () => {
    const first = await openTab()
    const second = await openTab({ shows: false })
    await second.getAccessToken()
    browser.cookies.clear()
    await first.fetchUser()
    await vi.waitFor(
      async () => expect(await second.getAccessToken().catch(({ code }) => code)).toBe('MISSING_SESSION'),
      PATIENT,
    )
  })

  test('a page in the back/forward cache has no open channel, and sends a request when it is restored', async () => {
    const first = await openTab()
    const second = await openTab()
    first.page.fire('pagehide')
    browser.cookies.clear()
    await second.fetchUser()
    await delivered()
    expect(shown(first)).toBe('dev|alice')
    first.page.fire('pageshow', { persisted: true })
    await vi.waitFor(() => expect(shown(first)).toBeNull(), PATIENT)
    await world.login(browser, '', { user: 'bob' })
    await second.fetchUser()
    await vi.waitFor(() => expect(shown(first)).toBe('dev|bob'), PATIENT)
  })
})

describe('a refresh that failed', () => {
  const refuse = (status: number, error: string) =>
    world.provider.faults.set('token', {
      kind: 'respond',
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error }),
    })

  test('permanently is reported once for any number of calls; the session still belongs to its user', async () => {
    const tab = await openTab()
    world.pass(TTL + 1)
    refuse(400, 'invalid_grant')
    const ask = (audience?: string): Promise<unknown> =>
      tab.getAccessToken({ audience }).catch(({ code }) => code)
    const codes = await Promise.all(Array.from({ length: 10 }, () => ask()))
    expect(new Set(codes)).toEqual(new Set(['FAILED_TO_REFRESH_TOKEN']))
    expect(await ask()).toBe('MISSING_REFRESH_TOKEN')
    expect(await ask(BANK)).toBe('MISSING_REFRESH_TOKEN')
    const told = tab.states.filter(({ error }) => error)
    expect(told).toEqual([
      {
        user: expect.objectContaining({ sub: 'dev|alice' }),
        isLoading: false,
        error: expect.objectContaining({
          code: 'FAILED_TO_REFRESH_TOKEN',
          status: 401,
          name: 'AccessTokenError',
        }),
      },
    ])
    world.provider.faults.clear()
    await world.login(browser)
    await tab.fetchUser()
    expect(tab.userStore().current().error).toBeNull()
    expect(await ask()).toEqual(expect.any(String))
  })

  test('temporarily is reported only to the caller', async () => {
    const tab = await openTab()
    world.pass(TTL + 1)
    refuse(503, 'temporarily_unavailable')
    const before = tab.states.length
    await expect(tab.getAccessToken()).rejects.toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN', status: 503 })
    expect(tab.states).toHaveLength(before)
    world.provider.faults.clear()
    expect(await tab.getAccessToken()).toEqual(expect.any(String))
  })

  test('because the session has ended removes the user, once', async () => {
    const tab = await openTab()
    browser.cookies.clear()
    const codes = await Promise.all(
      Array.from({ length: 10 }, () => tab.getAccessToken().catch(({ code }) => code)),
    )
    expect(new Set(codes)).toEqual(new Set(['MISSING_SESSION']))
    await vi.waitFor(() => expect(shown(tab)).toBeNull(), PATIENT)
    expect(tab.states.filter(({ user }) => user === null)).toHaveLength(1)
    expect([tab.asked('/auth/access-token'), tab.asked('/auth/profile')]).toEqual([1, 1])
  })
})
