import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { CIBA_INTERVAL, fapiCiba } from '../support/conformance-modules.ts'
import type { CertificateWorld } from '../support/mutual-tls.ts'
import { AUDIENCE, startCertificateWorld } from '../support/mutual-tls.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { PATIENT } from '../support/timeouts.ts'

const SCOPE = 'openid offline_access read:things'

let world: CertificateWorld
/** Seconds that the client waited. */
let waits: number[]
beforeAll(async () => {
  world = await startCertificateWorld()
  Object.assign(world.provider.settings, { cibaAutoApprove: true, cibaInterval: CIBA_INTERVAL })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  waits = []
  skipWaits()
  world.provider.clearRequests()
  world.events.length = 0
})
afterEach(() => vi.unstubAllGlobals())

const { setTimeout: realTimeout } = globalThis

/** Seconds by which `slow_down` lengthens the interval (OpenID Connect CIBA section 11). */
const SLOW_DOWN = 5

/**
 * Lets time pass at once when the client waits between polls; every other timer runs as it is, among them that of Node.js for a
 * connection, of 10 s.
 */
function skipWaits(): void {
  vi.stubGlobal('setTimeout', (work: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) => {
    const longer = delay / 1000 - CIBA_INTERVAL
    const isWait = longer >= 0 && delay < PATIENT && longer % SLOW_DOWN === 0
    if (!isWait) return realTimeout(work, delay, ...args)
    waits.push(delay / 1000)
    world.clock.now += delay / 1000
    return realTimeout(work, 0)
  })
}

const request = { bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } }

/** The options of a client that has to sign its requests, and whose tokens are bound to its certificate. */
async function register(authentication: 'private_key_jwt' | 'tls_client_auth'): Promise<IdpClientOptions> {
  const { privateKey: key, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const { clientId } = await world.provider.addClient({
    tokenEndpointAuthMethod: authentication,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1', use: 'sig', alg: 'ES256' }] },
    idTokenSigningAlg: 'PS256',
    requireSignedRequests: true,
    requireCertificateBinding: true,
  })
  world.presented.current = await world.issue({ subject: `CN=${clientId}` })
  return {
    clientId,
    clientSecret: undefined,
    certificateBoundAccessTokens: true,
    requestObject: { key, keyId: 'key-1' },
    idTokenSignedResponseAlg: 'PS256',
    authorizationParameters: { audience: AUDIENCE, scope: SCOPE },
    ...(authentication === 'tls_client_auth'
      ? { clientCertificate: true }
      : { clientAssertionSigningKey: key }),
  }
}

describe.each(['private_key_jwt', 'tls_client_auth'] as const)(
  'FAPI-CIBA in poll mode, %s',
  (authentication) => {
    let options: IdpClientOptions
    beforeAll(async () => {
      options = await register(authentication)
    })

    test.each(fapiCiba.modules)('$name: $demand', async ({ behave, refused, waits: expected }) => {
      const { provider, events } = world
      const stop = behave?.(provider)
      const work = world.another(options).client.getTokenByBackchannelAuth(request)
      const outcome = await (refused ? rejectionOf(work) : work)
      stop?.()
      if (refused) {
        const { code, detail = '', last } = refused
        expect(outcome).toMatchObject({ code: 'BACKCHANNEL_AUTHENTICATION_ERROR', cause: { code } })
        const reason = { error: code, detail: expect.stringContaining(detail) }
        expect(events).toContainEqual(expect.objectContaining(reason))
        expect(waits).toEqual(last === undefined ? [CIBA_INTERVAL] : [])
      } else {
        expect(outcome).toMatchObject({
          idTokenClaims: { sub: 'dev|alice' },
          tokenSet: { requestedScope: SCOPE },
        })
        expect(waits).toEqual(expected ?? [CIBA_INTERVAL])
      }
      expect(provider.count('backchannelAuthentication')).toBe(1)
      expect(provider.count('token')).toBe(waits.length)
    })

    test('the request is signed, with no parameter outside but the client authentication', async () => {
      await world.another(options).client.getTokenByBackchannelAuth(request)
      const [{ body = {} } = {}] = world.provider.requests('backchannelAuthentication')
      const names = Object.keys(body).filter((name) => !name.startsWith('client_'))
      expect(names).toEqual(['request'])
      expect('client_assertion' in body).toBe(authentication === 'private_key_jwt')
      const { aud, exp = 0, nbf = 0 } = decodeJwt(body['request'] ?? '')
      expect(aud).toBe(world.provider.issuer)
      expect(exp - nbf).toBeLessThanOrEqual(3600)
    })
  },
)
