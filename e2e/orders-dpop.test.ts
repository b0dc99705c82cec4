import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import { freePort } from './fixtures/support/next-application.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile, openSignedIn, requestWithCookies } from './support/browser-profile.ts'
import type { DemoSite } from './support/demo-site.ts'
import { startDemo } from './support/demo-site.ts'
import { choose, dialogue, enterCode, openTransfer, pressTransfer, receipt } from './support/money.ts'
import type { OrdersApi } from './support/orders-api.ts'
import { startOrdersApi } from './support/orders-api.ts'
import type { ProofClaims } from './support/proofs.ts'
import { dpopVariables, newProofKey } from './support/proofs.ts'

let provider: DevProvider
let browser: Browser
let site: DemoSite
let api: OrdersApi
let profile: BrowserProfile | undefined

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1', requireDpop: true, dpopNonces: true })
  const port = await freePort()
  site = await startDemo(provider, {
    ...dpopVariables(),
    DEMO_DPOP: '1',
    ORDERS_API_URL: `http://127.0.0.1:${port}`,
  })
  api = await startOrdersApi(provider, site.url, port)
  browser = await startChromium({ provider })
})

afterEach(async () => {
  await Promise.all([profile?.leave(), site?.complaints.settle()])
  profile = undefined
})

afterAll(async () => {
  await browser?.close()
  await api?.stop()
  await provider?.stop()
  await site?.stop()
})

test('bound tokens: the server gets orders and, after a nonce challenge, transfers; the browser gets no token', async () => {
  profile = await newProfile(browser)
  const { page } = profile
  const region = (name: string): ReturnType<Page['getByRole']> => page.getByRole('region', { name })
  await openSignedIn(page, `${site.url}/orders`, 'alice')
  await region('Called by the server').getByText('Teapot, cast iron').waitFor()
  await region('Transfers').getByText('Two requests').waitFor()
  await region('Transfers').getByRole('row', { name: 'T-318' }).getByText('€10.00').waitFor()
  await region('Called by the browser').getByText('Bound tokens stay on the server').waitFor()
  expect(await region('Called by the browser').getByRole('button').count()).toBe(0)
  expect(await accessibilityProblems(page)).toEqual([])

  await page.reload()
  await region('Transfers').getByText('One request').waitFor()
  await region('Transfers').getByText('T-318').waitFor()
  const route = await requestWithCookies(profile.context, `${site.url}/auth/access-token`)
  expect(await route.text()).not.toContain('token_type')
  expect(route.status()).toBe(404)
})

test('a transfer with bound tokens: the factor is verified with the key, and no popup returns a token', async () => {
  const { secret } = provider.mfa.enrollOtp('alice')
  profile = await newProfile(browser)
  const { page } = profile
  await openTransfer(page, site.url, 'alice')
  await pressTransfer(page)
  expect(await page.getByRole('radio', { name: 'In a popup' }).count()).toBe(0)
  await choose(page, 'Authenticator app')
  await dialogue(page).getByRole('textbox', { name: 'Code' }).waitFor()
  await enterCode(page, provider.mfa.totp(secret))
  await receipt(page).getByText('Authenticator app').waitFor()
  const verified = provider.requests('token').filter(({ body }) => body['grant_type']?.includes('/mfa-'))
  expect(verified.map(({ headers }) => typeof headers['dpop'])).not.toContain('undefined')
  expect(verified.at(-1)?.status).toBe(200)
  await page.goto(`${site.url}/accounts`)
  await page.getByRole('link', { name: 'Connect GitHub' }).click()
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText('The account is connected.').waitFor()
})

describe('the API', () => {
  const key = newProofKey()
  const noProof = 'DPoP algs="ES256"'
  const faulty = (error: string): string => `DPoP error="${error}", algs="ES256"`

  const now = (): number => Math.floor(Date.now() / 1000)

  function token(changes: Record<string, unknown> = {}): Promise<string> {
    const claims = {
      iss: provider.issuer,
      aud: 'https://api.example.test/',
      sub: 'dev|alice',
      scope: 'openid read:things',
      iat: now(),
      exp: now() + 60,
      cnf: { jkt: key.thumbprint },
      ...changes,
    }
    return provider.sign(claims, { header: { typ: 'at+jwt' } })
  }

  async function ask(path: string, headers: Record<string, string>) {
    const response = await fetch(`${api.url}${path}`, { headers })
    const nonce = response.headers.get('dpop-nonce') ?? ''
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      nonce,
      origin: response.headers.get('access-control-allow-origin'),
      text: await response.text(),
    }
  }

  const requestNonce = async (): Promise<string> => (await ask('/transfers', {})).nonce

  test('accepts a bound token for transfers with a proof that has its nonce, and each proof once', async () => {
    const accessToken = await token()
    const authorization = `DPoP ${accessToken}`
    const htu = `${api.url}/transfers`
    const first = await ask('/transfers', { authorization, dpop: key.prove(accessToken, { htu }) })
    expect([first.status, first.challenge, first.text]).toEqual([401, faulty('use_dpop_nonce'), ''])
    expect(first.nonce).not.toBe('')

    const dpop = key.prove(accessToken, { htu, nonce: first.nonce })
    const second = await ask('/transfers', { authorization, dpop, origin: site.url })
    expect([second.status, second.origin]).toEqual([200, null])
    expect(JSON.parse(second.text)).toMatchObject({ owner: 'dev|alice', transfers: [{ id: 'T-310' }, {}] })

    const replayed = await ask('/transfers', { authorization, dpop })
    expect([replayed.status, replayed.challenge, replayed.text]).toEqual([
      401,
      faulty('invalid_dpop_proof'),
      '',
    ])
    const fresh = key.prove(accessToken, { htu, nonce: first.nonce })
    expect((await ask('/transfers', { authorization, dpop: fresh })).status).toBe(200)
  })

  test('accepts a bound token for orders without a nonce, and each proof once', async () => {
    const accessToken = await token()
    const headers = {
      authorization: `DPoP ${accessToken}`,
      dpop: key.prove(accessToken, { htu: `${api.url}/orders` }),
    }
    expect((await ask('/orders', headers)).status).toBe(200)
    expect((await ask('/orders', headers)).challenge).toBe(faulty('invalid_dpop_proof'))
  })

  test.each([
    ['nobody', () => ({})],
    ['a Bearer token', async () => ({ authorization: `Bearer ${await token({ cnf: undefined })}` })],
    ['a bound token as a Bearer token', async () => ({ authorization: `Bearer ${await token()}` })],
  ])('requires a proof for transfers of %s', async (_title, headers) => {
    const { challenge, status, text } = await ask('/transfers', await headers())
    expect([status, challenge, text]).toEqual([401, noProof, ''])
  })

  test.each([
    ['none', () => undefined],
    ['what is no JWT', () => 'proof'],
    ['several', (proof: string) => `${proof}, ${proof}`],
    ['one with a broken signature', (proof: string) => proof.replace(/[^.]*$/, 'AAAA')],
  ])('rejects as a proof: %s', async (_title, change) => {
    const accessToken = await token()
    const claims = { htu: `${api.url}/transfers`, nonce: await requestNonce() }
    const dpop = change(key.prove(accessToken, claims))
    const headers = { authorization: `DPoP ${accessToken}`, ...(dpop === undefined ? {} : { dpop }) }
    const { challenge, status } = await ask('/transfers', headers)
    expect([status, challenge]).toEqual([401, faulty('invalid_dpop_proof')])
  })

  const otherCurve = { kty: 'EC', crv: 'P-384', x: 'AAAA', y: 'AAAA' }

  test.each<[string, Partial<ProofClaims>, Record<string, unknown>?]>([
    ['for another method', { htm: 'POST' }],
    ['for another address', { htu: 'https://other.example/transfers' }],
    ['for an invalid address', { htu: 'transfers' }],
    ['for another token', { ath: 'other' }],
    ['without identifier', { jti: undefined }],
    ['that is old', { iat: now() - 600 }],
    ['that is dated ahead', { iat: now() + 600 }],
    ['of another type', {}, { typ: 'JWT' }],
    ['by another algorithm', {}, { alg: 'HS256' }],
    ['without key', {}, { jwk: undefined }],
    ['with a key of another kind', {}, { jwk: otherCurve }],
  ])('refuses a proof %s', async (_title, claims, header) => {
    const accessToken = await token()
    const right = { htu: `${api.url}/transfers`, nonce: await requestNonce() }
    const dpop = key.prove(accessToken, { ...right, ...claims }, header)
    const { challenge, status } = await ask('/transfers', { authorization: `DPoP ${accessToken}`, dpop })
    expect([status, challenge]).toEqual([401, faulty('invalid_dpop_proof')])
  })

  test.each([
    ['bound to another key', { cnf: { jkt: newProofKey().thumbprint } }, 401, faulty('invalid_token')],
    ['bound to none', { cnf: undefined }, 401, faulty('invalid_token')],
    ['expired', { exp: now() - 1 }, 401, faulty('invalid_token')],
    ['without the scope', { scope: 'openid' }, 403, 'DPoP error="insufficient_scope", scope="read:things"'],
  ])('rejects a token %s', async (_title, changes, status, challenge) => {
    const accessToken = await token(changes)
    const dpop = key.prove(accessToken, { htu: `${api.url}/transfers`, nonce: await requestNonce() })
    const response = await ask('/transfers', { authorization: `DPoP ${accessToken}`, dpop })
    expect([response.status, response.challenge]).toEqual([status, challenge])
  })

  test.each(['a nonce of its own making', 42, ''])('requires its nonce instead of %j', async (nonce) => {
    const accessToken = await token()
    const dpop = key.prove(accessToken, { htu: `${api.url}/transfers`, nonce })
    const response = await ask('/transfers', { authorization: `DPoP ${accessToken}`, dpop })
    expect([response.status, response.challenge]).toEqual([401, faulty('use_dpop_nonce')])
  })

  test('does not allow browsers to request transfers', async () => {
    const response = await fetch(`${api.url}/transfers`, {
      method: 'OPTIONS',
      headers: { origin: site.url },
    })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})
