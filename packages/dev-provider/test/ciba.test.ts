import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())

function start(parameters: Record<string, string> = {}): Promise<client.BackchannelAuthenticationResponse> {
  return client.initiateBackchannelAuthentication(app.config, {
    scope: SCOPE,
    login_hint: JSON.stringify({ format: 'iss_sub', iss: provider.issuer, sub: 'dev|bob' }),
    binding_message: 'Pay 20 to shop 7',
    requested_expiry: '120',
    ...parameters,
  })
}

const poll = (authReqId: string): Promise<unknown> =>
  app.grant('urn:openid:params:grant-type:ciba', { auth_req_id: authReqId })

test('waits for the user, then returns tokens once', async () => {
  const started = await start({ audience: 'https://api.example.test/' })
  expect(started).toMatchObject({ interval: 1, expires_in: 120 })
  expect(provider.ciba.pending()).toMatchObject([
    { authReqId: started.auth_req_id, sub: 'dev|bob', bindingMessage: 'Pay 20 to shop 7', scope: SCOPE },
  ])
  expect(await oauthError(poll(started.auth_req_id))).toBe('authorization_pending')
  await provider.ciba.approve(started.auth_req_id)
  expect(provider.ciba.pending()).toEqual([])
  const tokens = await app.grant('urn:openid:params:grant-type:ciba', { auth_req_id: started.auth_req_id })
  expect(tokens.claims()).toMatchObject({ sub: 'dev|bob', email: 'bob@example.test' })
  expect(tokens.access_token.split('.')).toHaveLength(3)
  await app.refresh(tokens)
  expect(await oauthError(poll(started.auth_req_id))).toBe('invalid_grant')
})

test('returns an error if the user denies, if nothing is decided in time, and if the hint is unknown', async () => {
  const refused = await start()
  await provider.ciba.deny(refused.auth_req_id)
  expect(await oauthError(poll(refused.auth_req_id))).toBe('access_denied')

  const ignored = await start({ requested_expiry: '5' })
  provider.clock.advance(6)
  try {
    expect(await oauthError(poll(ignored.auth_req_id))).toBe('expired_token')
  } finally {
    provider.clock.reset()
  }
  expect(await oauthError(start({ login_hint: 'nobody' }))).toBe('unknown_user_id')
  expect(await oauthError(start({ binding_message: '<b>' }))).toBe('invalid_binding_message')
})

test('waits no longer when its time is over', async () => {
  const { auth_req_id: id } = await start({ requested_expiry: '5' })
  provider.clock.advance(6)
  try {
    expect(provider.ciba.pending()).toEqual([])
    await expect(provider.ciba.approve(id)).rejects.toThrow('There is no open request')
    const page = await provider.visit(`${provider.issuer}/dev`)
    expect(page.kind === 'page' && page.html).not.toContain(id)
  } finally {
    provider.clock.reset()
  }
  await provider.ciba.deny(id)
})

test('is approved immediately with cibaAutoApprove', async () => {
  provider.settings.cibaAutoApprove = true
  try {
    const started = await start({ login_hint: 'alice' })
    const tokens = await client.pollBackchannelAuthenticationGrant(app.config, started)
    expect(tokens.claims()?.sub).toBe('dev|alice')
  } finally {
    provider.settings.cibaAutoApprove = false
  }
})

test('can be approved on the page of the provider, but not from another site', async () => {
  const started = await start()
  const page = await provider.visit(`${provider.issuer}/dev`)
  expect(page.kind === 'page' && page.html).toContain('Pay 20 to shop 7')
  const decide = (origin: string): Promise<Response> =>
    fetch(`${provider.issuer}/dev/ciba`, {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ id: started.auth_req_id, decision: 'approve' }),
      redirect: 'manual',
    })
  expect((await decide('http://evil.example')).status).toBe(403)
  expect((await decide(provider.origin)).status).toBe(303)
  await poll(started.auth_req_id)
})
