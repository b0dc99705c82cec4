import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import express from 'express'
import type { JWK } from 'jose'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import type { SessionDataStore } from '../../src/config/options.ts'
import { customFetch } from '../../src/config/options.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { GuardedApi, Outcome } from '../support/guarded-api.ts'
import { API, INVALID, provideGuardedApi } from '../support/guarded-api.ts'
import { startSecureProvider } from '../support/secure-provider.ts'

/** Access tokens that are bound to a key (RFC 9449), at an API of the application. */

interface Key {
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  readonly jkt: string
}

async function newKey(alg = 'ES256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { privateKey, jwk, jkt: await calculateJwkThumbprint(jwk) }
}

let api: GuardedApi
let key: Key
provideGuardedApi((started) => {
  api = started
})
beforeAll(async () => {
  key = await newKey()
})

const URL_OF_API = 'http://localhost:3000/api/orders'

async function hash(token: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(token))).toString('base64url')
}

/** A client of Express, which only verifies access tokens. */
const expressClient = (): ExpressClient =>
  new ExpressClient({
    domain: api.world.provider.issuer,
    appBaseUrl: 'http://localhost:3000',
    allowInsecureRequests: true,
    sessions: false,
  })

/** Starts an application until the end of the test, and returns the URL of its API. */
async function listen(app: Express): Promise<string> {
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/orders`
}

let proofs = 0

interface Change {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly signer?: CryptoKey
}

async function prove(token: string, { claims, header, signer }: Change = {}): Promise<string> {
  const payload = {
    jti: `proof-${++proofs}`,
    htm: 'GET',
    htu: URL_OF_API,
    iat: api.world.clock.now,
    ath: await hash(token),
    ...claims,
  }
  const protectedHeader = { alg: 'ES256', typ: 'dpop+jwt', jwk: key.jwk, ...header }
  return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(signer ?? key.privateKey)
}

const boundToken = (): Promise<string> => api.sign({ cnf: { jkt: key.jkt } })

const send = (token: string, dpop?: string, scheme = 'DPoP'): Promise<Outcome> =>
  api.call({ authorization: `${scheme} ${token}`, headers: dpop === undefined ? {} : { dpop } })

const INVALID_PROOF = /^DPoP error="invalid_dpop_proof", error_description="[\w .]+", algs="RS256 [\w ]+"$/

test('a bound token passes with a proof of its key, by every kind of key', async () => {
  const token = await boundToken()
  expect(await send(token, await prove(token))).toMatchObject({ status: 200, auth: { kind: 'token' } })
  expect((await send(token, await prove(token), 'dpop')).status).toBe(200)
  const ofKeycloak = await api.sign({ typ: 'DPoP', cnf: { jkt: key.jkt } })
  expect((await send(ofKeycloak, await prove(ofKeycloak))).status).toBe(200)
  for (const alg of ['EdDSA', 'RS256', 'ES384']) {
    const other = await newKey(alg)
    const bound = await api.sign({ cnf: { jkt: other.jkt } })
    const proof = await prove(bound, { header: { alg, jwk: other.jwk }, signer: other.privateKey })
    expect([alg, (await send(bound, proof)).status]).toEqual([alg, 200])
  }
})

test('a bound token is refused as Bearer, also with a proof', async () => {
  const token = await boundToken()
  const outcome = await send(token, await prove(token), 'Bearer')
  expect([outcome.status, outcome.challenge]).toEqual([401, INVALID])
})

test('a proof with the header of an earlier one is verified, too', async () => {
  const token = await boundToken()
  expect((await send(token, await prove(token))).status).toBe(200)
  const other = await newKey()
  expect((await send(token, await prove(token, { signer: other.privateKey }))).status).toBe(401)
  const theirs = await api.sign({ cnf: { jkt: other.jkt } })
  expect((await send(theirs, await prove(theirs))).status).toBe(401)
  expect((await send(token, await prove(token))).status).toBe(200)
})

test('query and fragment of htu are ignored', async () => {
  const token = await boundToken()
  const proof = await prove(token, { claims: { htu: `${URL_OF_API}?a=1#b` } })
  expect((await send(token, proof)).status).toBe(200)
})

test.each([
  ['/api/~me/%C3%A4', '/api/%7Eme/%c3%a4', 200],
  ['/api/%7eme/%c3%a4', '/api/~me/ä', 200],
  ['/api/a%2fb', '/api/a%2Fb', 200],
  ['/api/a/b', '/api/a%2Fb', 401],
  ['/api/a%2Fb', '/api/a/b', 401],
  ['/api/~', '/api/%257E', 401],
  ['/api/100%', '/api/100%', 200],
])('a request of %s with a proof of %s: %s (RFC 3986 section 6.2.2)', async (path, proven, status) => {
  const { client } = api.world
  const token = await boundToken()
  const origin = new URL(URL_OF_API).origin
  const dpop = await prove(token, { claims: { htu: origin + proven } })
  const request = new Request(origin + path, { headers: { authorization: `DPoP ${token}`, dpop } })
  const { response } = await client.requireAuth(request, { accept: [client.resource({ audience: API })] })
  expect(response?.status ?? 200).toBe(status)
})

describe('attacks that the adapter contract leaves to this file', () => {
  test('a proof of two minutes before or after', async () => {
    const token = await boundToken()
    for (const seconds of [-130, 130]) {
      const outcome = await send(
        token,
        await prove(token, { claims: { iat: api.world.clock.now + seconds } }),
      )
      expect([outcome.status, outcome.error]).toEqual([401, 'invalid_dpop_proof'])
    }
  })

  test('a proof of less than two minutes before or after passes once, for as long as its time allows', async () => {
    onTestFinished(() => {
      api.world.clock.now -= 238
    })
    const token = await boundToken()
    const [early, late] = await Promise.all(
      [-119, 119].map((seconds) => prove(token, { claims: { iat: api.world.clock.now + seconds } })),
    )
    expect((await send(token, early)).status).toBe(200)
    expect((await send(token, late)).status).toBe(200)
    api.world.clock.now += 238
    expect((await send(token, late)).challenge).toMatch(INVALID_PROOF)
  })

  test('a proof is accepted once, by every client of the process', async () => {
    const token = await boundToken()
    const proof = await prove(token)
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => send(token, proof)))
    expect(all.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
    expect((await send(token, proof)).challenge).toMatch(INVALID_PROOF)
    // The same id by another key is another proof.
    const other = await newKey()
    const theirs = await api.sign({ cnf: { jkt: other.jkt } })
    const claims = { jti: `proof-${proofs}` }
    const same = await prove(theirs, { claims, header: { jwk: other.jwk }, signer: other.privateKey })
    expect((await send(theirs, same)).status).toBe(200)
  })

  test('several guards of one request accept its proof, also of two clients, and no further request with it', async () => {
    const clients = [api.world.client, api.world.another({}).client]
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token) }
    const guardTwice = (request: Request) =>
      Promise.all(
        [...clients, ...clients].map(async (client) => {
          const { response } = await client.requireAuth(request, {
            accept: [client.resource({ audience: API })],
          })
          return response?.status
        }),
      )
    const request = new Request(URL_OF_API, { headers })
    expect(await guardTwice(request)).toEqual([undefined, undefined, undefined, undefined])
    expect(await guardTwice(request)).toEqual([undefined, undefined, undefined, undefined])
    expect(await guardTwice(new Request(URL_OF_API, { headers }))).toEqual([401, 401, 401, 401])
  })

  test('what one store remembers for a request does not count for another store', async () => {
    const newStore = () => memoryStore({ name: crypto.randomUUID() })
    const { once: _once, ...forgetful } = newStore()
    const newClient = (sessionStore?: SessionDataStore) => api.world.another({ sessionStore }).client
    const [first, second] = [newClient(newStore()), newClient(newStore())]
    const others = [newClient(forgetful), newClient()]
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token) }
    const guard = async (client: typeof first, request: Request) => {
      const { response } = await client.requireAuth(request, { accept: [client.resource({ audience: API })] })
      return response?.status
    }
    const request = new Request(URL_OF_API, { headers })
    for (const client of [first, second, first, ...others, ...others])
      expect(await guard(client, request)).toBeUndefined()
    for (const client of [first, second, ...others])
      expect(await guard(client, new Request(URL_OF_API, { headers }))).toBe(401)
  })

  test('a guard for all routes of Express and one for a route accept one proof, once', async () => {
    const idp = expressClient()
    const accept = [idp.resource({ audience: API, scopes: ['read:things'] })]
    const app = express()
    app.use('/api', idp.withApiAuthRequired({ accept }))
    app.get('/api/orders', idp.withApiAuthRequired({ accept, scope: 'read:things' }), (request, response) => {
      response.json({ sub: request.idpAuth?.sub })
    })
    const url = await listen(app)
    const iat = Math.floor(Date.now() / 1000)
    const token = await api.sign({ cnf: { jkt: key.jkt }, iat, exp: iat + 300 })
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token, { claims: { iat } }) }
    const first = await fetch(url, { headers })
    expect([first.status, await first.json()]).toEqual([200, { sub: 'dev|alice' }])
    expect((await fetch(url, { headers })).status).toBe(401)
  })

  test('a proof names the method that arrived, also where middleware has overridden it', async () => {
    const idp = expressClient()
    const accept = [idp.resource({ audience: API })]
    const app = express()
    // As the package method-override does.
    app.use((request, _response, next) => {
      Object.assign(request, { originalMethod: request.method, method: 'DELETE' })
      next()
    })
    app.delete('/api/orders', idp.withApiAuthRequired({ accept }), (_request, response) => {
      response.end('deleted')
    })
    const url = await listen(app)
    const iat = Math.floor(Date.now() / 1000)
    const token = await api.sign({ cnf: { jkt: key.jkt }, iat, exp: iat + 300 })
    const post = async (htm: string) => {
      const dpop = await prove(token, { claims: { iat, htm } })
      return (await fetch(url, { method: 'POST', headers: { authorization: `DPoP ${token}`, dpop } })).status
    }
    expect(await post('DELETE')).toBe(401)
    expect(await post('POST')).toBe(200)
  })

  test('a proof that was refused for another reason can be used later', async () => {
    const token = await boundToken()
    const proof = await prove(token)
    expect((await send(await api.sign({ cnf: { jkt: key.jkt }, aud: 'x' }), proof)).status).toBe(401)
    expect((await send(token, proof)).status).toBe(200)
  })

  test('in a store a proof is accepted once in all processes, also by requests at the same time', async () => {
    const store = memoryStore()
    const takeOnce = async (...given: Parameters<typeof store.once>) => {
      const result = await store.once(...given)
      await new Promise((resolve) => setImmediate(resolve))
      return result
    }
    // Another object for each process: what one knows of its running requests, the other does not.
    const clients = [1, 2, 3].map(
      () => api.world.another({ sessionStore: { ...store, once: takeOnce } }).client,
    )
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token) }
    const decisions = clients.flatMap((client) => {
      const accept = [client.resource({ audience: API })]
      return [1, 2, 3].map(() => client.requireAuth(new Request(URL_OF_API, { headers }), { accept }))
    })
    const passed = (await Promise.all(decisions)).filter(({ auth }) => auth)
    expect(passed).toHaveLength(1)
  })

  test('an API without sessions uses the store for nothing else', async () => {
    const client = { clientId: undefined, clientSecret: undefined, authorizationParameters: undefined }
    const none = { ...client, secret: undefined, sessions: false }
    const sessionStore = memoryStore()
    const newClient = () => api.world.another({ ...none, sessionStore }).client
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token) }
    const statuses: (number | undefined)[] = []
    for (const process of [newClient(), newClient()]) {
      const accept = [process.resource({ audience: API })]
      const { response } = await process.requireAuth(new Request(URL_OF_API, { headers }), { accept })
      statuses.push(response?.status)
    }
    expect(statuses).toEqual([undefined, 401])
  })

  test('while the store fails nothing passes', async () => {
    const fail = async (): Promise<never> => {
      throw new Error('the database is down')
    }
    const { client } = api.world.another({ sessionStore: { ...memoryStore(), once: fail } })
    const token = await boundToken()
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(token) }
    const accept = [client.resource({ audience: API })]
    const { response } = await client.requireAuth(new Request(URL_OF_API, { headers }), { accept })
    expect([response?.status, response?.headers.get('www-authenticate')]).toEqual([503, null])
    expect(api.world.events).toContainEqual(
      expect.objectContaining({ level: 'error', code: 'REQUEST_FAILED', error: 'SESSION_STORE_FAILED' }),
    )
  })
})

test('in development a base URL that is inferred from the request proves what runs on this machine', async () => {
  const { client } = api.world.another({ appBaseUrl: undefined })
  const accept = [client.resource({ audience: API })]
  const token = await boundToken()
  const statusAt = async (origin: string) => {
    const htu = `${origin}/api/orders`
    const dpop = await prove(token, { claims: { htu } })
    const headers = { host: new URL(origin).host, authorization: `DPoP ${token}`, dpop }
    return (await client.requireAuth(new Request(htu, { headers }), { accept })).response?.status
  }
  expect(await statusAt('http://localhost:3000')).toBeUndefined()
  expect(await statusAt('http://app.example.test')).toBe(500)
})

test('in production a base URL that is inferred from the request proves nothing', async () => {
  const secure = await startSecureProvider()
  const { issuer: iss } = secure.provider
  const token = await secure.provider.sign(api.claims({ iss, cnf: { jkt: key.jkt } }), {
    header: { typ: 'at+jwt' },
  })
  const statusWith = async (
    appBaseUrl: string | undefined,
    resource = {},
    htu = URL_OF_API,
  ): Promise<number | undefined> => {
    const options = { domain: iss, allowInsecureRequests: false, [customFetch]: secure.fetch, appBaseUrl }
    vi.stubEnv('NODE_ENV', 'production')
    const { client } = api.world.another(options)
    vi.unstubAllEnvs()
    const dpop = await prove(token, { claims: { htu } })
    const headers = { host: 'localhost:3000', authorization: `DPoP ${token}`, dpop }
    const accept = [client.resource({ audience: API, ...resource })]
    return (await client.requireAuth(new Request(URL_OF_API, { headers }), { accept })).response?.status
  }
  expect(await statusWith(undefined)).toBe(500)
  expect(await statusWith('http://localhost:3000')).toBeUndefined()
  // The URL of the API does, and then the host of the request does not.
  const own = { resource: 'https://API.example.test:443/v1' }
  for (const path of ['/api/orders', '/v1/api/orders'])
    expect(await statusWith(undefined, own, `https://api.example.test${path}`)).toBeUndefined()
  expect(await statusWith(undefined, own)).toBe(401)
  expect(await statusWith('http://localhost:3000', own)).toBeUndefined()
  await secure.provider.stop()
})
