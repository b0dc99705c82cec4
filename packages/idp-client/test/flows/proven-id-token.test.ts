import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GuardRequirements, IdpClient, IdpClientOptions, SessionData } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600

let world: World
beforeAll(async () => {
  world = await startWorld({ enableConnectAccountEndpoint: true }, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.accounts.remove('alice')
})

/** Claims that no login here has brought, with which every guard below would be content. */
const claims = () => ({
  iss: world.provider.issuer,
  sub: 'dev|alice',
  aud: world.provider.clientId,
  auth_time: world.clock.now,
  acr: 'gold',
  amr: ['pwd', 'hwk'],
  org_id: 'org_forged',
})

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const forged = (): string => `${part({ alg: 'none' })}.${part(claims())}.`

/** Forged claims that an application may write anywhere in a session. */
function withForgedProof(session: SessionData): SessionData {
  return {
    ...session,
    user: { ...session.user, ...claims(), sub: session.user.sub },
    tokenSet: { ...session.tokenSet, idToken: forged() },
    internal: { ...session.internal, ...{ authentication: claims(), asked: 'x', iss: 'x', sub: 'x' } },
    authentication: claims(),
  }
}

const guards: [string, GuardRequirements][] = [
  ['maxAge', { maxAge: 60 }],
  ['acr', { acr: 'gold' }],
  ['amr', { amr: 'hwk' }],
  ['organization', { organization: 'org_forged' }],
]

/** The names of the guards that let a browser pass. */
async function passed(browser: Browser, client: IdpClient): Promise<string[]> {
  const results = guards.map(async ([name, requirements]) => {
    const guard = client.withApiAuthRequired(() => new Response('in'), requirements)
    return (await guard(browser.request('/api'))).status === 200 ? [name] : []
  })
  return (await Promise.all(results)).flat()
}

const places: [string, () => IdpClientOptions][] = [
  ['cookies', () => ({})],
  ['a store', () => ({ sessionStore: memoryStore() })],
]

describe.each(places)('[C6] sessions in %s: guards use verified claims only', (_, options) => {
  /** Signed in so long ago that the guard rejects the session. */
  async function signedIn(more: IdpClientOptions = {}) {
    const made = world.another({ ...options(), ...more })
    await world.login(made.browser)
    world.clock.now += 300
    expect(await passed(made.browser, made.client)).toEqual([])
    const run = async <T>(work: (request: Request, headers: Headers) => Promise<T>): Promise<T> => {
      const headers = new Headers()
      const result = await work(made.browser.request('/'), headers)
      made.browser.store(new Response(null, { headers }))
      return result
    }
    const session = async () =>
      (await made.client.getSession(made.browser.request('/'))) ?? expect.fail('nobody is signed in')
    const expire = () => {
      world.clock.now += TTL + 1
    }
    return { ...made, expire, run, session }
  }

  test('the guards pass after a login with these claims', async () => {
    const undo = world.provider.tamperIdToken((token) => void Object.assign(token, claims()))
    const { browser, client } = world.another(options())
    await world.login(browser)
    undo()
    expect(await passed(browser, client)).toEqual(guards.map(([name]) => name))
  })

  test('updateSession: an ID token, claims and `internal` of the application have no effect', async () => {
    const { browser, client, expire, run, session } = await signedIn()
    const before = await session()
    await run((...args) => client.updateSession(...args, withForgedProof(before)))
    expect(await passed(browser, client)).toEqual([])
    expect((await session()).tokenSet.idToken).toBe(before.tokenSet.idToken)
    expect((await session()).internal).toEqual(before.internal)
    // Nor does a refresh bring it in.
    expire()
    await run((...args) => client.getAccessToken(...args))
    expect(await passed(browser, client)).toEqual([])
  })

  test('updateSession: removing the ID token has no effect', async () => {
    const { client, run, session } = await signedIn()
    const before = await session()
    const { idToken: _removed, ...tokenSet } = before.tokenSet
    await run((...args) => client.updateSession(...args, { ...before, tokenSet }))
    expect((await session()).tokenSet.idToken).toBe(before.tokenSet.idToken)
  })

  test('beforeSessionSaved at login, refresh and connect: claims that it adds have no effect', async () => {
    const seen: (string | undefined)[] = []
    const { browser, client, expire, run, session } = await signedIn({
      beforeSessionSaved: (saved, idToken) => {
        seen.push(idToken)
        return withForgedProof(saved)
      },
    })
    const atLogin = await session()
    expect(atLogin.tokenSet.idToken).toBe(seen[0])
    expect(atLogin.user['acr']).toBe('gold')
    expire()
    await run((...args) => client.getAccessToken(...args))
    expect(await passed(browser, client)).toEqual([])
    expect((await session()).tokenSet.idToken).toBe(seen[1])
    expect((await session()).internal).toEqual(atLogin.internal)
    const connect = await browser.send('/auth/connect?connection=github')
    await browser.send(await world.authorize(connect.headers.get('location') ?? '', {}))
    expect(seen).toHaveLength(4)
    expect(await passed(browser, client)).toEqual([])
    expect((await session()).tokenSet.idToken).toBe(seen[1])
  })

  test('beforeSessionSaved may remove the ID token: only what the login proved still counts', async () => {
    const undo = world.provider.tamperIdToken((token) => void Object.assign(token, { acr: 'gold' }))
    const { browser, client } = world.another({
      ...options(),
      beforeSessionSaved: ({ tokenSet: { idToken: _removed, ...tokenSet }, ...session }) => ({
        ...session,
        tokenSet,
      }),
    })
    await world.login(browser)
    undo()
    world.clock.now += 300
    expect((await client.getSession(browser.request('/')))?.tokenSet.idToken).toBeUndefined()
    expect(await passed(browser, client)).toEqual(['acr'])
    const headers = new Headers()
    const session = (await client.getSession(browser.request('/'))) ?? expect.fail('signed in')
    await client.updateSession(browser.request('/'), headers, withForgedProof(session))
    browser.store(new Response(null, { headers }))
    expect((await client.getSession(browser.request('/')))?.tokenSet.idToken).toBeUndefined()
    expect(await passed(browser, client)).toEqual(['acr'])
  })

  test('a refreshed ID token proves no authentication, and one with fewer claims removes them', async () => {
    const { browser, client, expire, run } = await signedIn()
    const better = () => {
      const { org_id: _of, ...proof } = claims()
      return proof
    }
    expire()
    const undo = world.provider.tamperIdToken((token) => void Object.assign(token, better()))
    await run((...args) => client.getAccessToken(...args))
    undo()
    expect(await passed(browser, client)).toEqual([])

    const proven = world.provider.tamperIdToken((token) => void Object.assign(token, better()))
    await world.login(browser)
    proven()
    expect(await passed(browser, client)).toEqual(['maxAge', 'acr', 'amr'])
    const less = world.provider.tamperIdToken(
      (token) => void Object.assign(token, { acr: 'bronze', amr: ['pwd'] }),
    )
    await run((...args) => client.getAccessToken(...args, { refresh: true }))
    less()
    expect(await passed(browser, client)).toEqual(['maxAge'])
  })
})
