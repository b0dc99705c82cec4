import express from 'express'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { currentTime } from '../support/app.ts'
import { serve } from '../support/serve.ts'
import { nextRequest } from './next-support.ts'

/** Hosts with `sessions: false`: access tokens alone, and no auth routes. */

const AUDIENCE = 'https://api.example.test/'

let provider: DevProvider
let options: IdpClientOptions
let authorization: string
beforeAll(async () => {
  provider = await startDevProvider({ host: '127.0.0.1' })
  options = { domain: provider.issuer, sessions: false, allowInsecureRequests: true }
  const claims = { iss: provider.issuer, aud: AUDIENCE, sub: 'carol', scope: 'a', exp: currentTime() + 300 }
  authorization = `Bearer ${await provider.sign(claims)}`
})
afterAll(() => provider.stop())

const refused = expect.objectContaining({
  code: 'INVALID_CONFIGURATION',
  message: expect.stringContaining('sessions: false'),
})

test('Express', async () => {
  const idp = new ExpressClient(options)
  const accept = [idp.resource({ audience: AUDIENCE })]
  expect(() => idp.withPageAuthRequired()).toThrow(refused)
  expect(() => idp.withApiAuthRequired()).toThrow(refused)
  expect(() => idp.withApiAuthRequired({ accept: ['session', ...accept] })).toThrow(refused)
  const app = express().use(idp.middleware)
  app.get('/auth/login', (_req, res) => {
    res.send('mine')
  })
  app.get('/api', idp.withApiAuthRequired({ accept }), async (req, res) => {
    await expect(idp.getSession()).rejects.toEqual(refused)
    res.send(req.idpAuth?.sub)
  })
  await serve(app, async (url) => {
    const headers = { cookie: '__session=x' }
    expect(await (await fetch(`${url}/auth/login`, { headers })).text()).toBe('mine')
    expect((await fetch(`${url}/api`, { headers })).status).toBe(401)
    const response = await fetch(`${url}/api`, { headers: { ...headers, authorization } })
    expect([response.status, await response.text()]).toEqual([200, 'carol'])
    expect(response.headers.getSetCookie()).toEqual([])
  })
})

test('Next.js', async () => {
  const idp = new NextClient(options)
  const accept = [idp.resource({ audience: AUDIENCE })]
  expect(() => idp.withPageAuthRequired(() => null)).toThrow(refused)
  expect(() => idp.withPageAuthRequired()).toThrow(refused)
  expect(() => idp.withApiAuthRequired(() => new Response())).toThrow(refused)
  const headers = { cookie: '__session=x' }
  const login = nextRequest('/auth/login', { headers })
  const continued = await idp.middleware(login)
  expect([continued.headers.get('x-middleware-next'), continued.headers.getSetCookie()]).toEqual(['1', []])
  expect((await idp.handlers().GET(login)).status).toBe(404)
  const GET = idp.withApiAuthRequired((_request, { auth }) => new Response(auth.sub), { accept })
  expect((await GET(nextRequest('/api', { headers }), {})).status).toBe(401)
  const response = await GET(nextRequest('/api', { headers: { ...headers, authorization } }), {})
  expect([response.status, await response.text()]).toEqual([200, 'carol'])
  await expect(idp.getSession(login)).rejects.toEqual(refused)
})
