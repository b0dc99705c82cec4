import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { GuardRequirements, IdpClientOptions } from '../../src/index.ts'
import { isIdpError } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { openLogin } from '../support/guard-login.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.provider.stop())

describe('[M1] guards of one application, one after the other', () => {
  /** Opens pages with guards in one browser; returns the authorization requests that it took, and how it ended. */
  function opener(options: IdpClientOptions = {}) {
    const { browser, client } = world.another(options)
    const visit = { user: 'alice', jar: world.provider.createJar() }
    return async (...guards: GuardRequirements[]) => {
      const page = guards.reduceRight<(request: Request) => Response | Promise<Response>>(
        (inner, requirements) => client.withPageAuthRequired(inner, requirements),
        () => new Response('in'),
      )
      const requests: Record<string, string>[] = []
      try {
        for (;;) {
          const response = await page(browser.request('/vault'))
          if (response.status === 200) return { end: await response.text(), requests }
          if (requests.length > 5) return { end: 'round and round', requests }
          const { search } = new URL(response.headers.get('location') ?? '', APP)
          const url = await world.begin(browser, search)
          requests.push(Object.fromEntries(new URL(url).searchParams))
          expect((await browser.send(await world.authorize(url, visit))).status).toBe(302)
        }
      } catch (error) {
        if (isIdpError(error)) return { end: error.code, requests }
        throw error
      }
    }
  }

  test('an acr that nobody requested is not requested again, so that nobody has to type a password', async () => {
    world.provider.addApi({
      audience: 'https://api.example.test/',
      scopes: ['read:things', 'write:things', 'delete:things'],
    })
    world.provider.tamperIdToken((claims) => {
      claims['acr'] = '1'
    })
    const open = opener({ authorizationParameters: { audience: 'https://api.example.test/' } })
    const first = await open({ maxAge: 300 })
    const others = [
      await open({ scope: 'read:things' }),
      await open({ scope: 'write:things' }),
      await open({ scope: 'delete:things' }),
    ]
    for (const { end, requests } of [first, ...others]) {
      expect(end).toBe('in')
      expect(requests).toHaveLength(1)
      expect(requests[0]).not.toHaveProperty('acr_values')
    }
    for (const { requests } of others) expect(requests[0]).not.toHaveProperty('max_age')
    expect(others.at(-1)?.requests[0]?.['scope']).toContain('read:things write:things delete:things')
  })

  test('an acr that a guard requested is requested again', async () => {
    const open = opener({ authorizationParameters: { audience: 'https://api.example.test/' } })
    expect((await open({ acr: ['urn:silver', 'urn:gold'] })).end).toBe('in')
    const { end, requests } = await open({ scope: 'read:things' })
    expect([end, requests]).toEqual(['in', [expect.objectContaining({ acr_values: 'urn:silver urn:gold' })]])
  })

  test('a configured acr is that of the configuration, not of the one before', async () => {
    const [before, now] = ['urn:silver', 'urn:gold'].map((acr) =>
      world.another({ authorizationParameters: { acr_values: acr } }),
    )
    if (!before || !now) throw new Error('two clients')
    const started = await before.client.startInteractiveLogin({}, before.browser.request('/'))
    before.browser.store(started)
    const callback = await world.authorize(started.headers.get('location') ?? '')
    expect((await before.browser.send(callback)).status).toBe(302)
    const page = now.client.withPageAuthRequired(() => new Response('in'), { scope: 'read:things' })
    const response = await page(before.browser.request('/vault'))
    const { searchParams } = new URL(response.headers.get('location') ?? '', APP)
    expect(await openLogin(Object.fromEntries(searchParams))).toMatchObject({ scope: 'read:things' })
    expect(await openLogin(Object.fromEntries(searchParams))).not.toHaveProperty('acr_values')
  })

  test('an acr of a login link is not requested again', async () => {
    const { browser, client } = world.another()
    await world.login(browser, '?acr_values=urn:gold')
    const page = client.withPageAuthRequired(() => new Response('in'), { organization: 'org_acme' })
    const { headers } = await page(browser.request('/vault'))
    const url = await world.begin(browser, new URL(headers.get('location') ?? '', APP).search)
    expect(new URL(url).searchParams.get('organization')).toBe('org_acme')
    expect(new URL(url).searchParams.get('acr_values')).toBeNull()
  })

  test.each([
    ['of the application', 'openid profile email offline_access read:things', ''],
    ['of another API', 'openid profile email offline_access', '&audience=https://api.example.test/'],
  ])('after a login link with a scope %s, the scope is %s', async (_which, scope, audience) => {
    world.provider.addApi({ audience: 'https://api.example.test/', scopes: ['read:things'] })
    const { browser, client } = world.another()
    await world.login(browser, `?scope=read:things${audience}`)
    const page = client.withPageAuthRequired(() => new Response('in'), { acr: 'urn:gold' })
    const { headers } = await page(browser.request('/vault'))
    const url = await world.begin(browser, new URL(headers.get('location') ?? '', APP).search)
    expect(new URL(url).searchParams.get('scope')).toBe(scope)
  })

  test('two guards that undo each other: two redirects, then the error', async () => {
    const { end, requests } = await opener()({ acr: 'urn:gold' }, { acr: 'urn:silver' })
    expect(end).toBe('INSUFFICIENT_USER_AUTHENTICATION')
    expect(requests.map(({ acr_values }) => acr_values)).toEqual(['urn:gold', 'urn:silver'])
  })

  test('pages that a user opens later may each have their login', async () => {
    const open = opener()
    for (const acr of ['urn:gold', 'urn:silver', 'urn:gold', 'urn:silver']) {
      expect(await open({ acr })).toMatchObject({ end: 'in', requests: [{ acr_values: acr }] })
      world.clock.now += 5
    }
  })
})
