import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { CIBA_INTERVAL, fapiCiba } from '../support/conformance-modules.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { PATIENT } from '../support/timeouts.ts'

const SCOPE = 'openid profile email offline_access'

let world: World
let options: IdpClientOptions
/** Seconds that the client waited. */
let waits: number[]
beforeAll(async () => {
  world = await startWorld({}, { cibaAutoApprove: true, cibaInterval: CIBA_INTERVAL })
  const { clientId, privateKey = '' } = await world.provider.addClient({
    tokenEndpointAuthMethod: 'private_key_jwt',
    idTokenSigningAlg: 'PS256',
    requireSignedRequests: true,
  })
  options = {
    clientId,
    clientSecret: undefined,
    clientAssertionSigningKey: privateKey,
    requestObject: { key: privateKey },
    idTokenSignedResponseAlg: 'PS256',
  }
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

/** Lets time pass at once when the client waits between polls; every other timer runs as it is. */
function skipWaits(): void {
  vi.stubGlobal('setTimeout', (work: () => void, delay = 0) => {
    const isWait = delay >= CIBA_INTERVAL * 1000 && delay < PATIENT
    if (!isWait) return realTimeout(work, delay)
    waits.push(delay / 1000)
    world.clock.now += delay / 1000
    return realTimeout(work, 0)
  })
}

const request = { bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } }

describe('FAPI-CIBA in poll mode, private_key_jwt and signed requests', () => {
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
    expect(Object.keys(body).sort()).toEqual([
      'client_assertion',
      'client_assertion_type',
      'client_id',
      'request',
    ])
    const { aud, exp = 0, nbf = 0 } = decodeJwt(body['request'] ?? '')
    expect(aud).toBe(world.provider.issuer)
    expect(exp - nbf).toBeLessThanOrEqual(3600)
  })
})
