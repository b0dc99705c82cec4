import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { IdpClient } from '../../src/adapters/next/index.ts'
import { signedIn } from './client-options.ts'
import { client, forwarded, nextRequest } from './next-support.ts'

const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** Each test is a process of its own. */
beforeEach(() => {
  vi.stubEnv('NODE_ENV', 'production')
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Returns the path for page guards that the proxy forwards, after as many requests as it waits for a guard. */
async function pathAfterManyRequests(idp: IdpClient): Promise<string | undefined> {
  const visit = () => idp.middleware(nextRequest('/page?a=1', { headers: navigation }))
  for (let times = 0; times < 1000; times++) await visit()
  return forwarded(await visit())?.['x-idp-return-path']
}

const callApi = (idp: IdpClient): Promise<unknown> =>
  idp.withApiAuthRequired(() => new Response())(nextRequest('/api/data'), {})

test('[R1] the path is not forwarded where pages run in this process and none has a guard', async () => {
  const idp = client()
  await callApi(idp)
  const first = await idp.middleware(nextRequest('/page', { headers: navigation }))
  expect(forwarded(first)).toEqual({ ...navigation, 'x-idp-return-path': '/page' })
  expect(await pathAfterManyRequests(idp)).toBeUndefined()
  const claiming = { ...navigation, 'x-idp-return-path': '/claimed' }
  expect(forwarded(await idp.middleware(nextRequest('/', { headers: claiming })))).toEqual(navigation)
})

test.each([
  ['of the App Router', (idp: IdpClient) => idp.withPageAuthRequired(() => null)],
  ['of the Pages Router', (idp: IdpClient) => idp.withPageAuthRequired()],
])('it is forwarded from the first guard on, in the module of a page %s', async (_name, createGuard) => {
  const idp = client()
  await callApi(idp)
  expect(await pathAfterManyRequests(idp)).toBeUndefined()
  createGuard(client())
  expect(await pathAfterManyRequests(idp)).toBe('/page?a=1')
})

test('[R1] it is forwarded by a proxy in a process of its own, which knows no pages', async () => {
  expect(await pathAfterManyRequests(client())).toBe('/page?a=1')
})

test('[R1] it is forwarded in development, where pages are loaded late', async () => {
  vi.stubEnv('NODE_ENV', 'development')
  const idp = client()
  await callApi(idp)
  expect(await pathAfterManyRequests(idp)).toBe('/page?a=1')
})

test('[R6] a dead session cookie is deleted in the browser only, where no page is rendered', async () => {
  const { cookie } = await signedIn()
  const dead = `${/__session=[^;]*/.exec(cookie)?.[0]}x`
  const headers = { cookie: dead, accept: 'application/json' }
  const response = await client().middleware(nextRequest('/api/data', { headers }))
  expect(response.headers.getSetCookie()[0]).toMatch(/^__session=;.*Max-Age=0/)
  expect(response.headers.get('cache-control')).toContain('no-store')
  expect(forwarded(response)).toBeNull()
})
