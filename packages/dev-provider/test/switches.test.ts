import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

/** Switches that make the provider behave like real ones that differ from the rest. */

let provider: DevProvider
let app: RelyingParty
beforeEach(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterEach(() => provider.stop())

const WITHOUT = 'openid profile email'

describe('offlineAccess', () => {
  test('listed: the metadata has the scope, and a refresh token needs it', async () => {
    expect(app.config.serverMetadata().scopes_supported).toContain('offline_access')
    expect((await app.logIn({ scope: WITHOUT })).refresh_token).toBeUndefined()
    expect((await app.logIn()).refresh_token).toBeDefined()
  })

  test.each(['unlisted', 'refused'] as const)(
    '%s: the metadata lacks the scope, and every login brings a refresh token',
    async (offlineAccess) => {
      provider.settings.offlineAccess = offlineAccess
      const fresh = await relyingParty(provider)
      expect(fresh.config.serverMetadata().scopes_supported).toEqual(['openid', 'profile', 'email'])
      const tokens = await fresh.logIn({ scope: WITHOUT })
      expect(tokens.scope).toBe(WITHOUT)
      expect((await fresh.refresh(tokens)).scope).toBe(WITHOUT)
    },
  )

  test('unlisted: a request for it is answered as before', async () => {
    provider.settings.offlineAccess = 'unlisted'
    expect((await app.logIn()).refresh_token).toBeDefined()
  })

  test('refused: invalid_scope at login, at a pushed request, at CIBA and at a refresh, which costs nothing', async () => {
    provider.settings.offlineAccess = 'refused'
    const { url } = await app.authorize()
    const { location } = await provider.login(url.href)
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_scope')
    expect(await oauthError(client.buildAuthorizationUrlWithPAR(app.config, url.searchParams))).toBe(
      'invalid_scope',
    )
    const ciba = client.initiateBackchannelAuthentication(app.config, { scope: SCOPE, login_hint: 'alice' })
    expect(await oauthError(ciba)).toBe('invalid_scope')
    const tokens = await app.logIn({ scope: WITHOUT })
    expect(await oauthError(app.refresh(tokens, { scope: SCOPE }))).toBe('invalid_scope')
    await app.refresh(tokens)
  })
})
