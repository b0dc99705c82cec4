import { afterAll, beforeAll, expect, test } from 'vitest'
import type {
  OnCallbackContext,
  OnCallbackHook,
  OnCallbackResult,
  SessionAuth,
  SessionData,
} from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import { defined } from '../../src/lib/objects.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { popupQuery, run } from '../support/popup-page.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

const login = async (options: Parameters<World['another']>[0]) => {
  const other = world.another(options)
  const response = await world.login(other.browser, '?returnTo=/asked')
  return { ...other, response, session: await other.client.getSession(other.browser.request('/')) }
}

/** The responses to refreshes have no ID token. */
const withoutRefreshedIdToken: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (!String(init?.body ?? '').includes('grant_type=refresh_token')) return response
  const { id_token: _removed, ...tokens } = (await response.json()) as Record<string, unknown>
  return Response.json(tokens)
}

test('[S056,S115,S116,S117] onCallback gets one argument with session and request, and may return nothing', async () => {
  const seen: unknown[][] = []
  const { response } = await login({
    onCallback: (...given: unknown[]) => {
      seen.push(given)
    },
  })
  expect(response.headers.get('location')).toBe(`${APP}/asked`)
  expect(seen).toHaveLength(1)
  expect(seen[0]).toHaveLength(1)
  const context = seen[0]?.[0] as OnCallbackContext
  expect(context.request).toBeInstanceOf(Request)
  expect(context).toMatchObject({ returnTo: '/asked', responseType: 'code', appBaseUrl: APP })
  expect(context.session?.user).toMatchObject({ iss: world.provider.issuer, nonce: expect.any(String) })
})

test('[S118,S119] it may return a path, directly or as a promise, that stays on the origin', async () => {
  expect((await login({ onCallback: () => ({ returnTo: '/sync' }) })).response.headers.get('location')).toBe(
    `${APP}/sync`,
  )
  const later = await login({ onCallback: async () => ({ returnTo: '/async?x=1' }) })
  expect(later.response.headers.get('location')).toBe(`${APP}/async?x=1`)
  const evil = await login({ onCallback: () => ({ returnTo: 'https://evil.example/' }) })
  expect(new URL(evil.response.headers.get('location') ?? '').origin).toBe(APP)
})

test('a Response is sent unchanged, with the cookies of the library', async () => {
  const { response, session } = await login({ onCallback: () => Response.redirect(`${APP}/own`, 307) })
  expect(response.status).toBe(307)
  expect(session).not.toBeNull()
})

test('a Response of another class is recognized by its properties', async () => {
  const own = Response.redirect(`${APP}/own`, 307)
  const foreign = new Proxy(own, {
    getPrototypeOf: () => Object.prototype,
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  expect(foreign).not.toBeInstanceOf(Response)
  const { response, session } = await login({ onCallback: () => foreign })
  expect([response.status, response.headers.get('location')]).toEqual([307, `${APP}/own`])
  expect(session).not.toBeNull()
})

test('after a failure a Response is sent in place of the failure page, and is not cacheable either', async () => {
  const headers = { 'cache-control': 'public, max-age=600' }
  const { browser } = world.another({
    onCallback: ({ error }) => new Response(error?.code, { status: 418, headers }),
  })
  const response = await browser.send('/auth/callback')
  expect([response.status, await response.text()]).toEqual([418, 'MISSING_STATE'])
  expect(response.headers.get('cache-control')).toContain('no-store')
})

test('a Response of 400 or more, or an exception, means that no session is written', async () => {
  const denied = await login({ onCallback: () => new Response('no', { status: 400 }) })
  expect(denied.response.status).toBe(400)
  expect(await denied.response.text()).toBe('no')
  expect(denied.session).toBeNull()
  const thrown = await login({
    onCallback: () => {
      throw new Error('secret detail')
    },
  })
  expect(thrown.response.status).toBe(500)
  expect(world.events).toContainEqual(
    expect.objectContaining({ level: 'error', code: 'LOGIN_FAILED', error: 'HOOK_FAILED' }),
  )
  const page = await thrown.response.text()
  expect(page).not.toContain('secret detail')
  // The next login would fail, too.
  expect(page).not.toMatch(/http-equiv="refresh"/i)
  expect(thrown.session).toBeNull()
})

test('an exception of beforeSessionSaved in a popup is reported to its opener', async () => {
  const { browser } = world.another({
    beforeSessionSaved() {
      throw new Error('no')
    },
  })
  const { opener } = await run(await world.login(browser, popupQuery()))
  expect(opener[0]?.message).toMatchObject({ success: false, error: { code: 'HOOK_FAILED' } })
})

test.each<unknown>([{}, { returnTo: undefined }])(
  'the result %o, which names nothing, continues',
  async (value) => {
    const { response, session } = await login({ onCallback: () => value as OnCallbackResult })
    expect(response.status).toBe(302)
    expect(session).not.toBeNull()
  },
)

test('a hook that returns the path as it got it does not hide a failure', async () => {
  const { browser } = world.another({ onCallback: ({ returnTo }) => defined({ returnTo }) })
  const response = await browser.send('/auth/callback', { headers: { accept: 'application/json' } })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 'MISSING_STATE' } })
})

test.each(['onCallback', 'both'])('[S055] %s cannot change what is saved by its argument', async (hooks) => {
  const onCallback: OnCallbackHook = ({ session }) => {
    if (!session) return
    session.user.sub = 'forged'
    Object.assign(session.tokenSet, { idToken: 'x.y.z', accessToken: 'forged' })
  }
  const plain = await login({})
  const { session } = await login({
    onCallback,
    ...(hooks === 'both' ? { beforeSessionSaved: (given: SessionData) => given } : {}),
  })
  expect(session?.user.sub).toBe(plain.session?.user.sub)
  expect(session?.tokenSet.accessToken).not.toBe('forged')
  expect(session?.tokenSet.idToken).not.toBe('x.y.z')
})

test.each([7, 'x', { redirectTo: '/x' }, { returnTo: 7 }, { status: 302 }, [], new Map(), new Date(0)])(
  '[S120] the invalid result %j creates no session: 500',
  async (value) => {
    const { response, session } = await login({ onCallback: () => value as never })
    expect(response.status).toBe(500)
    expect(session).toBeNull()
  },
)

test('[S055,S113,S114] beforeSessionSaved gets session and ID token, and decides what is saved', async () => {
  const seen: [SessionData, string | undefined][] = []
  const { session } = await login({
    beforeSessionSaved: async (given, idToken) => {
      seen.push([structuredClone(given), idToken])
      return {
        ...given,
        user: { sub: given.user.sub, tier: 'gold' },
        internal: { createdAt: 1, sid: 'forged' },
        extra: 1,
      }
    },
  })
  expect(seen).toHaveLength(1)
  expect(seen[0]?.[0].user).toMatchObject({ iss: world.provider.issuer })
  expect(seen[0]?.[1]).toBe(session?.tokenSet.idToken)
  expect(session?.user).toEqual({ sub: expect.any(String), tier: 'gold' })
  expect(session?.['extra']).toBe(1)
  expect(session?.internal.createdAt).toBe(world.clock.now)
  expect(session?.internal.sid).not.toBe('forged')
})

test.each([undefined, null, 7, {}, { user: {} }, { user: { sub: 'x' } }])(
  'beforeSessionSaved returning %j creates no session: 500',
  async (value) => {
    const { response, session } = await login({ beforeSessionSaved: () => value as never })
    expect(response.status).toBe(500)
    expect(session).toBeNull()
  },
)

test('after a refresh without an ID token, in a session whose ID token it has removed, it gets the session as it returned it', async () => {
  const seen: unknown[] = []
  const { browser } = world.another({
    [customFetch]: withoutRefreshedIdToken,
    beforeSessionSaved({ tokenSet, user, ...session }, idToken) {
      seen.push([user['tier'], user['iss'], typeof idToken])
      const { idToken: _removed, ...others } = tokenSet
      return { ...session, user: { sub: user.sub, tier: 'gold' }, tokenSet: others }
    },
  })
  await world.login(browser)
  world.clock.now += 3601
  expect((await browser.send('/auth/access-token')).status).toBe(200)
  expect(seen).toEqual([
    [undefined, world.provider.issuer, 'string'],
    ['gold', undefined, 'undefined'],
  ])
  expect((await browser.session()).user).toEqual({ sub: 'dev|alice', tier: 'gold' })
})

test.each([true, false])(
  'guards get the sub of the provider, whatever it calls the user (ID token kept: %s)',
  async (isKept) => {
    const seen: unknown[] = []
    const { browser, client } = world.another({
      beforeSessionSaved({ tokenSet: { idToken, ...others }, ...session }) {
        const tokenSet = isKept && idToken !== undefined ? { ...others, idToken } : others
        return { ...session, user: { sub: 'dev|bob' }, tokenSet }
      },
    })
    await world.login(browser)
    const authorize = ({ claims, session: { user, tokenSet }, sub }: SessionAuth): boolean =>
      seen.push([sub, claims['sub'], user.sub, typeof tokenSet.idToken]) > 0
    expect((await client.requireAuth(browser.request('/api'), { authorize })).response).toBeUndefined()
    expect(seen).toEqual([['dev|alice', 'dev|alice', 'dev|bob', isKept ? 'string' : 'undefined']])
  },
)

test('onCallback runs before beforeSessionSaved', async () => {
  const order: string[] = []
  await login({
    onCallback: () => {
      order.push('onCallback')
    },
    beforeSessionSaved: (session) => {
      order.push('beforeSessionSaved')
      return session
    },
  })
  expect(order).toEqual(['onCallback', 'beforeSessionSaved'])
})
