import { decodeJwt } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

const API = 'https://api.example.test/'
const DETAILS = [{ type: 'payment', instructedAmount: { currency: 'EUR', amount: '12.50' } }]
const parameters = { audience: API, authorization_details: JSON.stringify(DETAILS) }

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider({ authorizationDetailsTypes: ['payment', 'consent'] })
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())
beforeEach(() => {
  provider.settings.grantedDetails = 'requested'
})

const grantedIn = ({ access_token: token, authorization_details: details }: Tokens): unknown[] => [
  details,
  decodeJwt(token)['authorization_details'],
]

test('requested details are in the token response, in the access token, in introspection, and after a refresh', async () => {
  const tokens = await app.logIn(parameters)
  expect(grantedIn(tokens)).toEqual([DETAILS, DETAILS])
  expect((await client.tokenIntrospection(app.config, tokens.access_token))['authorization_details']).toEqual(
    DETAILS,
  )
  expect(grantedIn(await app.refresh(tokens))).toEqual([DETAILS, DETAILS])
  expect(await app.logIn({ audience: API })).not.toHaveProperty('authorization_details')
})

test('grantedDetails: other grants details that were not requested', async () => {
  provider.settings.grantedDetails = 'other'
  const other = [{ type: 'payment', identifier: 'not-requested' }]
  expect(grantedIn(await app.logIn(parameters))).toEqual([other, other])
})

test('the types are in the metadata, and others are refused', async () => {
  expect(app.config.serverMetadata()['authorization_details_types_supported']).toEqual(['payment', 'consent'])
  for (const wrong of ['[{"type":"unknown"}]', '[{}]', '{']) {
    const refused = app.logIn({ authorization_details: wrong })
    expect(await oauthError(refused), wrong).toBe('invalid_authorization_details')
  }
})

test('a backchannel authentication grants the requested details', async () => {
  const started = await client.initiateBackchannelAuthentication(app.config, {
    scope: SCOPE,
    login_hint: 'alice',
    ...parameters,
  })
  await provider.ciba.approve(started.auth_req_id)
  const type = 'urn:openid:params:grant-type:ciba'
  const tokens = await app.grant(type, { auth_req_id: started.auth_req_id })
  expect(grantedIn(tokens)).toEqual([DETAILS, DETAILS])
})
