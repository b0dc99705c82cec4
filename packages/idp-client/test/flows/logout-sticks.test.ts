import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionData } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { fc, runsDividedBy } from '../support/fast-check.ts'
import { Process } from '../support/processes.ts'

const TTL = 600
const MARKER = '__session__ended'
const IN_FLIGHT = 30

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

/** A request that a browser has sent, and what becomes of it. */
interface Flight {
  readonly kind: 'page' | 'profile' | 'token' | 'small update' | 'large update'
  /** Whether its response arrives after the logout. */
  readonly late: boolean
  /** Which machine it reached. */
  readonly machine: 0 | 1
}

const flight: fc.Arbitrary<Flight> = fc.record({
  kind: fc.constantFrom('page', 'profile', 'token', 'small update', 'large update'),
  late: fc.boolean(),
  machine: fc.constantFrom(0, 1),
})

async function update(request: Request, note: string): Promise<Response> {
  const session = await world.client.getSession(request)
  const headers = new Headers()
  if (session) await world.client.updateSession(request, headers, { ...session, note } as SessionData)
  return new Response(null, { headers })
}

const responders: Readonly<Record<Flight['kind'], (browser: Browser) => () => Promise<Response>>> = {
  page: (browser) => sent(browser, '/page'),
  profile: (browser) => sent(browser, '/auth/profile'),
  token: (browser) => sent(browser, '/auth/access-token'),
  'small update': (browser) => {
    const request = browser.request('/save')
    return () => update(request, 'x')
  },
  'large update': (browser) => {
    const request = browser.request('/save')
    return () => update(request, 'abcdefghij'.repeat(200))
  },
}

function sent(browser: Browser, path: string): () => Promise<Response> {
  const request = browser.request(path)
  return () => world.client.middleware(request)
}

/** Sends requests in flight with a logout between them, and applies their responses. */
async function fly(browser: Browser, flights: readonly Flight[], machines: readonly [Process, Process]) {
  const logout = sent(browser, '/auth/logout')
  const begun = flights.map((one) => ({ ...one, respond: responders[one.kind](browser) }))
  const landed: Response[] = []
  const land = async (late: boolean): Promise<void> => {
    for (const [index, machine] of machines.entries()) {
      const mine = begun.filter((one) => one.late === late && one.machine === index)
      landed.push(...(await machine.run(() => Promise.all(mine.map(({ respond }) => respond())))))
    }
  }
  await land(false)
  landed.push(await machines[0].run(logout))
  await land(true)
  return landed
}

function copyOf(browser: Browser): Browser {
  const copy = world.newBrowser()
  for (const [name, cookie] of browser.cookies) copy.cookies.set(name, cookie)
  return copy
}

const sidOf = async (browser: Browser) =>
  (await world.client.getSession(browser.request('/')))?.internal.sid ?? null

const order = fc.shuffledSubarray(
  Array.from({ length: IN_FLIGHT + 1 }, (_, at) => at),
  { minLength: IN_FLIGHT + 1 },
)
const plan = fc.record({
  flights: fc.array(flight, { minLength: IN_FLIGHT, maxLength: IN_FLIGHT }),
  orders: fc.array(order, { minLength: 40, maxLength: 40 }),
})

describe('30 pending requests and a logout', () => {
  test('do not restore the session, in any order of the responses and on any machine', async () => {
    const numRuns = runsDividedBy(12)
    let returned = 0
    await fc.assert(
      fc.asyncProperty(plan, async ({ flights, orders }) => {
        const browser = world.newBrowser()
        await world.login(browser)
        pass(TTL + 1)
        const machines = [new Process(), new Process()] as const
        const landed = await fly(browser, flights, machines)
        for (const each of orders) {
          const delivered = copyOf(browser)
          for (const at of each) delivered.store(landed[at] ?? Response.error())
          if (delivered.cookies.size > 1) returned++
          for (const machine of [...machines, new Process()]) {
            expect(await machine.run(() => sidOf(delivered))).toBeNull()
          }
          await new Process().run(() => delivered.send('/page'))
          expect([...delivered.cookies.keys()]).toEqual([MARKER])
        }
      }),
      { numRuns },
    )
    // Else nothing was proved.
    expect(returned).toBeGreaterThan(2 * numRuns)
  })

  test('a login right after it stays valid, and late responses never restore the previous session', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ flights, orders }) => {
        const browser = world.newBrowser()
        await world.login(browser)
        pass(TTL + 1)
        const before = await sidOf(browser)
        const landed = await fly(browser, flights, [new Process(), new Process()])
        for (const response of landed) browser.store(response)
        await new Process().run(() => world.login(browser, '', { user: 'bob' }))
        // The process of the login knows of itself that alice's session is over.
        const other = new Process()
        const begun = await other.run(() => sidOf(browser))
        expect([begun === null, begun === before]).toEqual([false, false])
        for (const each of orders) {
          const delivered = copyOf(browser)
          for (const at of each) {
            if (!landed[at]?.headers.has('location')) delivered.store(landed[at] ?? Response.error())
          }
          expect([null, begun]).toContain(await other.run(() => sidOf(delivered)))
        }
      }),
      { numRuns: runsDividedBy(30) },
    )
  })
})
