import { generateKeyPairSync } from 'node:crypto'
import type { DevProvider } from 'idp-dev-provider'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { generateDpopKeyPair } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { APP } from '../support/app.ts'
import { AUDIENCE, presenting } from '../support/mutual-tls.ts'
import type { Bench, Mistake } from './bench.ts'
import { thrownBy } from './bench.ts'

type Fault = Parameters<DevProvider['faults']['set']>[1]

const respondWith = (status: number, body: object): Fault => ({
  kind: 'respond',
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

/** A login whose token request is refused with words that the provider makes up beside the code. */
function refusedWith(error: string, status = 400): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start()
    world.provider.faults.set(
      'token',
      respondWith(status, { error, error_description: 'alice at example.test' }),
    )
    await bench.login(world)
  }
}

/** A login that the provider ends with a redirect, with words that it makes up beside the code. */
function redirectedWith(error: string): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start()
    const browser = world.newBrowser()
    const url = new URL(await world.begin(browser))
    const refused = new URL(url.searchParams.get('redirect_uri') ?? '')
    const values = { error, state: url.searchParams.get('state') ?? '', iss: world.provider.issuer }
    const query = { ...values, error_description: 'alice at example.test' }
    refused.search = new URLSearchParams(query).toString()
    await browser.send(refused.href)
  }
}

/** A login whose request for UserInfo is refused. */
function refusedAtUserInfo(status: number, body: object): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start({ fetchUserInfo: true })
    world.provider.faults.set('userinfo', respondWith(status, body))
    await bench.login(world)
  }
}

const pemOf = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

async function inTwoHalves(): Promise<CryptoKeyPair> {
  const [one, other] = await Promise.all([generateDpopKeyPair(), generateDpopKeyPair()])
  return { publicKey: one.publicKey, privateKey: other.privateKey }
}

async function withUnregisteredCallback(bench: Bench): Promise<Response> {
  const world = await bench.start({ pushedAuthorizationRequests: true })
  world.provider.settings.allowLoopbackRedirects = false
  return bench.login(world)
}

/** A login with a certificate, which is not presented without a binding. */
async function loginByCertificate(bench: Bench, certificateBinding: 'none' | undefined): Promise<Response> {
  let present: ReturnType<typeof presenting> | undefined
  const options: IdpClientOptions = {
    clientId: 'bank-app',
    clientSecret: undefined,
    clientCertificate: true,
    certificateBoundAccessTokens: true,
    authorizationParameters: { audience: AUDIENCE },
    [customFetch]: async (input, init = {}) => {
      if (!present) throw new TypeError('The provider has not started yet.')
      return present(String(input), init)
    },
  }
  const world = await bench.start(options, { mtls: true })
  const { ca, mtls, settings } = world.provider
  const certificate = certificateBinding && (await mtls?.issue({ subject: 'CN=bank-app' }))
  if (certificateBinding) settings.certificateBinding = certificateBinding
  present = presenting(certificate, ca)
  await world.provider.addClient({
    clientId: 'bank-app',
    tokenEndpointAuthMethod: 'tls_client_auth',
    requireCertificateBinding: true,
    apps: [APP],
  })
  return bench.login(world)
}

/** Mistakes about client, request and tokens that the provider notices. */
export const refusals: readonly Mistake[] = [
  {
    mistake: 'a wrong client secret',
    remedy: 'CLIENT_REFUSED',
    async make(bench) {
      const world = await bench.start()
      const { browser } = world.another({ clientSecret: 'not the one that is registered' })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a wrong client id, told by a pushed request',
    remedy: 'CLIENT_REFUSED',
    async make(bench) {
      const world = await bench.start({ pushedAuthorizationRequests: true })
      const { browser } = world.another({ clientId: 'another-client' })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a key that is not registered',
    remedy: 'CLIENT_ASSERTION_REFUSED',
    async make(bench) {
      const world = await bench.start()
      const { clientId } = world.provider.keyClient
      const { browser } = world.another({
        clientId,
        clientSecret: undefined,
        clientAssertionSigningKey: pemOf(),
      })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a certificate that [customFetch] does not present',
    remedy: 'CLIENT_CERTIFICATE_REFUSED',
    make: (bench) => loginByCertificate(bench, undefined),
  },
  {
    mistake: 'bound tokens that the provider does not know for this client',
    remedy: 'TOKEN_NOT_BOUND',
    make: (bench) => loginByCertificate(bench, 'none'),
  },
  {
    mistake: 'a wrong client secret, told by a provider that calls the client unauthorized',
    remedy: 'CLIENT_REFUSED',
    async make(bench) {
      const world = await bench.start()
      world.provider.settings.wrongSecretError = 'unauthorized_client'
      const { browser } = world.another({ clientSecret: 'not the one that is registered' })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a wrong client secret, reported as access_denied',
    remedy: 'CLIENT_REFUSED',
    make: refusedWith('access_denied', 401),
  },
  {
    mistake: 'a client that may not use the code flow',
    remedy: 'CLIENT_NOT_ALLOWED',
    make: refusedWith('unauthorized_client'),
  },
  {
    mistake: 'a callback URL that is not registered, told by a pushed request',
    remedy: 'REQUEST_REFUSED',
    make: withUnregisteredCallback,
  },
  {
    mistake: 'a callback URL that is not registered, told by a provider that says so',
    remedy: 'REDIRECT_URI_REFUSED',
    async make(bench) {
      const world = await bench.start({ pushedAuthorizationRequests: true })
      world.provider.faults.set('par', respondWith(400, { error: 'invalid_redirect_uri' }))
      await bench.login(world)
    },
  },
  {
    mistake: 'a callback URL that is not the one of the authorization request',
    remedy: 'CODE_REFUSED',
    make: refusedWith('invalid_grant'),
  },
  {
    mistake: 'a code that is redeemed too late',
    remedy: 'CODE_REFUSED',
    async make(bench) {
      const { world, browser, callback } = await bench.callback()
      world.clock.now += 300
      await browser.send(callback)
    },
  },
  {
    mistake: 'a scope that the client may not ask for',
    remedy: 'SCOPE_REFUSED',
    make: redirectedWith('invalid_scope'),
  },
  {
    mistake: 'an unknown scope, reported as invalid_client in the redirect',
    remedy: 'REQUEST_REFUSED',
    make: redirectedWith('invalid_client'),
  },
  {
    mistake: 'an audience that the provider does not know',
    remedy: 'AUDIENCE_REFUSED',
    async make(bench) {
      const world = await bench.start({
        authorizationParameters: { audience: 'https://unknown.example.org/' },
      })
      await bench.login(world)
    },
  },
  {
    mistake: 'pushed requests that the provider demands, and are off',
    remedy: 'PAR_REQUIRED',
    async make(bench) {
      const world = await bench.start()
      world.provider.rewrite('discovery', (json) => ({
        ...json,
        require_pushed_authorization_requests: true,
      }))
      await bench.login(world)
    },
  },
  {
    mistake: 'signed requests that the provider demands, without a key for them',
    remedy: 'REQUEST_OBJECT_REQUIRED',
    async make(bench) {
      const world = await bench.start()
      world.provider.rewrite('discovery', (json) => ({ ...json, require_signed_request_object: true }))
      await bench.login(world)
    },
  },
  {
    mistake: 'signed requests that the provider requires of this client, without a key for them',
    remedy: 'REQUEST_OBJECT_REQUIRED',
    async make(bench) {
      const world = await bench.start({ pushedAuthorizationRequests: true })
      world.provider.faults.set('par', respondWith(400, { error: 'invalid_request_object' }))
      await bench.login(world)
    },
  },
  {
    mistake: 'an access token that UserInfo rejects, reported as invalid_request',
    remedy: 'USERINFO_TOKEN_REFUSED',
    make: refusedAtUserInfo(401, { error: 'invalid_request', error_description: 'alice' }),
  },
  {
    mistake: 'an access token that UserInfo rejects, with an error in a format of its own',
    remedy: 'USERINFO_TOKEN_REFUSED',
    make: refusedAtUserInfo(401, { error: { code: 'InvalidAuthenticationToken', message: 'alice' } }),
  },
  {
    mistake: 'pushed requests that the provider does not offer',
    remedy: 'PAR_NOT_OFFERED',
    async make(bench) {
      const world = await bench.start({ pushedAuthorizationRequests: true })
      world.provider.rewrite('discovery', (json) => ({
        ...json,
        pushed_authorization_request_endpoint: undefined,
      }))
      await bench.login(world)
    },
  },
  {
    mistake: 'DPoP that the provider demands of the client, and is off',
    remedy: 'DPOP_REQUIRED',
    make: refusedWith('invalid_dpop_proof'),
  },
  {
    mistake: 'the same at a provider that calls it a wrong grant',
    remedy: 'CODE_REFUSED',
    async make(bench) {
      const world = await bench.start({}, { requireDpop: true })
      await bench.login(world)
    },
  },
  {
    mistake: 'DPoP keys that are no pair',
    remedy: 'DPOP_KEYS',
    async make(bench) {
      const world = await bench.start({ useDPoP: true, dpopKeyPair: await inTwoHalves() })
      await bench.login(world)
    },
  },
  {
    mistake: 'DPoP that the provider does not know for this client',
    remedy: 'DPOP_NOT_ENABLED',
    async make(bench) {
      const world = await bench.start({ useDPoP: true, dpopKeyPair: await generateDpopKeyPair() })
      world.provider.rewrite('token', (json) => ({ ...json, token_type: 'Bearer' }))
      await bench.login(world)
    },
  },
  {
    mistake: 'a DPoP proof that is refused',
    remedy: 'DPOP_PROOF_REFUSED',
    async make(bench) {
      const world = await bench.start({ useDPoP: true, dpopKeyPair: await generateDpopKeyPair() })
      world.provider.faults.set('token', respondWith(400, { error: 'invalid_dpop_proof' }))
      await bench.login(world)
    },
  },
  {
    mistake: 'DPoP nonces that are demanded for ever',
    remedy: 'DPOP_NONCE_REFUSED',
    async make(bench) {
      const world = await bench.start({ useDPoP: true, dpopKeyPair: await generateDpopKeyPair() })
      world.provider.faults.set('token', respondWith(400, { error: 'use_dpop_nonce' }))
      await bench.login(world)
    },
  },
  {
    mistake: 'a parameter that the provider does not take',
    remedy: 'REQUEST_REFUSED',
    async make(bench) {
      const world = await bench.start({ pushedAuthorizationRequests: true })
      world.provider.faults.set(
        'par',
        respondWith(400, { error: 'invalid_request', error_description: 'alice' }),
      )
      await bench.login(world)
    },
  },
  {
    mistake: 'an error of the provider that no standard knows',
    remedy: 'AUTHORIZATION_CODE_GRANT_ERROR',
    make: refusedWith('alice_has_no_licence', 403),
  },
  {
    mistake: 'a refresh token that was revoked',
    remedy: 'FAILED_TO_REFRESH_TOKEN',
    async make(bench) {
      const clock = (): number => world.clock.now
      const sessionStore = memoryStore({ name: crypto.randomUUID(), clock })
      const world = await bench.start({ sessionStore })
      const browser = world.newBrowser()
      await bench.login(world, { browser })
      world.clock.now += 4000
      world.provider.faults.set(
        'token',
        respondWith(400, { error: 'invalid_grant', error_description: 'alice' }),
      )
      return world.client.getAccessToken(browser.request('/')).catch(() => undefined)
    },
  },
  {
    mistake: 'a session without refresh token',
    remedy: 'MISSING_REFRESH_TOKEN',
    async make(bench) {
      const world = await bench.start({ authorizationParameters: { scope: 'openid profile' } })
      const browser = world.newBrowser()
      await bench.login(world, { browser })
      world.clock.now += 4000
      return thrownBy(() => world.client.getAccessToken(browser.request('/')))
    },
  },
  {
    mistake: 'an endpoint that the metadata lacks',
    remedy: 'ENDPOINT_MISSING',
    async make(bench) {
      const world = await bench.start()
      world.provider.rewrite('discovery', (json) => ({ ...json, token_endpoint: undefined }))
      await bench.login(world)
    },
  },
  {
    mistake: 'a user who declines: a decision, and no alarm',
    remedy: null,
    async make(bench) {
      const world = await bench.start()
      await bench.login(world, { as: { deny: true } })
    },
  },
]
