import { generateKeyPairSync } from 'node:crypto'
import type { DevProvider } from 'idp-dev-provider'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions, OnCallbackHook } from '../../src/index.ts'
import { generateDpopKeyPair } from '../../src/index.ts'
import { selfSigned, serveTls } from '../support/certificate.ts'
import { startFront } from '../support/front.ts'
import { fetchTrusting } from '../support/secure-provider.ts'
import { SHORT } from '../support/timeouts.ts'
import type { Bench, Examination, Mistake, Variables } from './bench.ts'

type Endpoint = Parameters<DevProvider['faults']['set']>[0]
type Fault = Parameters<DevProvider['faults']['set']>[1]

const withVariables =
  (changes: Variables): Mistake['make'] =>
  (bench) =>
    bench.byVariables(changes)

function faulty(endpoint: Endpoint, fault: Fault, options?: IdpClientOptions): Mistake['make'] {
  return (bench) => {
    bench.provider.faults.set(endpoint, fault)
    return options ? bench.byOptions(options) : bench.byVariables()
  }
}

const respondWith = (status: number, body: object): Fault => ({
  kind: 'respond',
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

const html = (status: number): Fault => ({
  kind: 'respond',
  status,
  body: '<html><body>Please sign in to the network</body></html>',
  headers: { 'content-type': 'text/html' },
})

/** Metadata with other values; undefined removes one. */
function withMetadata(changes: object, options?: IdpClientOptions): Mistake['make'] {
  return (bench) => {
    bench.provider.rewrite('discovery', (json) => ({ ...json, ...changes }))
    return options ? bench.byOptions(options) : bench.byVariables()
  }
}

/** A https server that is no provider, reached by a client that trusts its certificate. */
function certified(host: string, days: number): Mistake['make'] {
  return async (bench) => {
    const identity = await selfSigned(host, days)
    const { stop, url } = await serveTls(identity)
    bench.defer(stop)
    return bench.byOptions({ domain: url, [customFetch]: fetchTrusting(identity.cert) })
  }
}

async function withUnusedPort(): Promise<string> {
  const front = await startFront(() => {})
  await front.stop()
  return front.url
}

const newPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

async function withDpop(bench: Bench, changes: IdpClientOptions = {}) {
  return bench.byOptions({ useDPoP: true, dpopKeyPair: await generateDpopKeyPair(), ...changes })
}

/** A client that is registered for a certificate, and presents none. */
async function withoutCertificate({ byOptions, provider }: Bench): Promise<Examination> {
  const { clientId } = await provider.addClient({
    tokenEndpointAuthMethod: 'tls_client_auth',
    apps: ['http://localhost:3000'],
  })
  return byOptions({
    clientId,
    clientSecret: undefined,
    clientCertificate: true,
    [customFetch]: fetchTrusting(provider.ca),
  })
}

export const settings: readonly Mistake[] = [
  {
    mistake: 'a secret that is too short',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ IDP_SECRET: 'much-too-short' }),
  },
  {
    mistake: 'a client id that is missing',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ IDP_CLIENT_ID: '' }),
  },
  {
    mistake: 'a misspelt variable',
    code: 'UNKNOWN_VARIABLE',
    make: withVariables({ IDP_CLIENT_SECERT: 'x' }),
  },
  {
    mistake: 'the discovery document as issuer',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ IDP_DOMAIN: 'https://idp.example.com/.well-known/openid-configuration' }),
  },
  {
    mistake: 'an http issuer',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ IDP_DOMAIN: 'http://idp.example.com' }),
  },
  {
    mistake: 'a base URL without scheme',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ APP_BASE_URL: 'localhost:3000' }),
  },
  {
    mistake: 'the callback URL as base URL',
    code: 'INVALID_CONFIGURATION',
    make: withVariables({ APP_BASE_URL: 'http://localhost:3000/auth/callback' }),
  },
  {
    mistake: 'an onCallback with the arguments of another library',
    code: 'HOOK_SIGNATURE',
    make(bench) {
      const onCallback: unknown = (_error: unknown, _context: unknown, _session: unknown) => undefined
      return bench.byOptions({ onCallback: onCallback as OnCallbackHook })
    },
  },
  {
    mistake: 'DPoP keys that are no pair',
    code: 'DPOP_KEYS',
    async make(bench) {
      const [one, other] = await Promise.all([generateDpopKeyPair(), generateDpopKeyPair()])
      return withDpop(bench, { dpopKeyPair: { publicKey: one.publicKey, privateKey: other.privateKey } })
    },
  },
]

export const network: readonly Mistake[] = [
  {
    mistake: 'a host name that does not exist',
    code: 'UNKNOWN_HOST',
    make: withVariables({ IDP_DOMAIN: 'https://idp.invalid' }),
  },
  {
    mistake: 'a port that nothing listens at',
    code: 'CONNECTION_REFUSED',
    make: async (bench) => bench.byVariables({ IDP_DOMAIN: await withUnusedPort() }),
  },
  {
    mistake: 'https:// for a plain http port',
    code: 'NOT_TLS',
    make: (bench) => bench.byVariables({ IDP_DOMAIN: bench.provider.issuer.replace('http:', 'https:') }),
  },
  {
    mistake: 'http:// for an https port',
    code: 'CONNECTION_LOST',
    async make(bench) {
      const { stop, url } = await serveTls(await selfSigned('localhost'))
      bench.defer(stop)
      return bench.byVariables({ IDP_DOMAIN: url.replace('https:', 'http:') })
    },
  },
  {
    mistake: 'a certificate of an unknown authority',
    code: 'CERTIFICATE_NOT_TRUSTED',
    provider: { https: true },
    make: (bench) => bench.byVariables(),
  },
  {
    mistake: 'a certificate that has expired',
    code: 'CERTIFICATE_EXPIRED',
    make: certified('localhost', -1),
  },
  {
    mistake: 'a certificate for another name',
    code: 'CERTIFICATE_HOST',
    make: certified('idp.example.org', 30),
  },
  {
    mistake: 'a network without a way out',
    code: 'NETWORK_UNREACHABLE',
    make: (bench) =>
      bench.byOptions({
        [customFetch]: () => {
          const cause = Object.assign(new Error('connect ENETUNREACH 192.0.2.1:443'), { code: 'ENETUNREACH' })
          return Promise.reject(new TypeError('fetch failed', { cause }))
        },
      }),
  },
  {
    mistake: 'a firewall that drops the connection',
    code: 'PROVIDER_TIMEOUT',
    make: faulty('discovery', { kind: 'hang' }, { httpTimeout: SHORT }),
  },
  {
    mistake: 'a clock that is ten minutes behind',
    code: 'CLOCKS_DIFFER',
    make(bench) {
      bench.provider.clock.advance(600)
      return bench.byVariables()
    },
  },
]

export const metadata: readonly Mistake[] = [
  {
    mistake: 'a realm that does not exist',
    code: 'DISCOVERY_NOT_FOUND',
    provider: { path: '/realms/shop' },
    make: (bench) => bench.byVariables({ IDP_DOMAIN: `${bench.provider.origin}/realms/shops` }),
  },
  {
    mistake: 'a trailing slash that the issuer does not have',
    code: 'DISCOVERY_ISSUER_MISMATCH',
    provider: { path: '/realms/shop' },
    make: (bench) => bench.byVariables({ IDP_DOMAIN: `${bench.provider.issuer}/` }),
  },
  {
    mistake: 'another name of the same provider',
    code: 'DISCOVERY_ISSUER_MISMATCH',
    make: (bench) =>
      bench.byVariables({ IDP_DOMAIN: bench.provider.issuer.replace('127.0.0.1', 'localhost') }),
  },
  { mistake: 'a captive portal', code: 'DISCOVERY_NOT_JSON', make: faulty('discovery', html(200)) },
  {
    mistake: 'an address that redirects',
    code: 'PROVIDER_REDIRECTS',
    make: faulty('discovery', { kind: 'redirect', location: 'https://new.example.test/' }),
  },
  { mistake: 'a provider that fails', code: 'PROVIDER_UNAVAILABLE', make: faulty('discovery', html(503)) },
  {
    mistake: 'an endpoint that is missing',
    code: 'ENDPOINT_MISSING',
    make: withMetadata({ token_endpoint: undefined }),
  },
  { mistake: 'keys that cannot be loaded', code: 'JWKS_ERROR', make: faulty('jwks', { kind: 'reset' }) },
  {
    mistake: 'an algorithm that the metadata does not list',
    code: 'ID_TOKEN_ALGORITHM',
    make(bench) {
      bench.provider.rewrite('discovery', (json) => ({
        ...json,
        id_token_signing_alg_values_supported: ['RS256'],
      }))
      return bench.byVariables({ IDP_ID_TOKEN_SIGNED_RESPONSE_ALG: 'ES256' })
    },
  },
  {
    mistake: 'symmetric algorithms only',
    code: 'ID_TOKEN_ALGORITHM_UNSUPPORTED',
    make: withMetadata({ id_token_signing_alg_values_supported: ['HS256'] }),
  },
  {
    mistake: 'keys of another kind than the algorithms',
    code: 'ID_TOKEN_SIGNATURE',
    make(bench) {
      bench.provider.rewrite('jwks', (json) => ({
        keys: [json['keys']].flat().filter((key) => JSON.stringify(key).includes('"RSA"')),
      }))
      bench.provider.rewrite('discovery', (json) => ({
        ...json,
        id_token_signing_alg_values_supported: ['ES256'],
      }))
      return bench.byVariables()
    },
  },
  {
    mistake: 'pushed requests that the provider demands',
    code: 'PAR_REQUIRED',
    make: withMetadata({ require_pushed_authorization_requests: true }),
  },
  {
    mistake: 'signed requests that the provider demands',
    code: 'REQUEST_OBJECT_REQUIRED',
    make: withMetadata({ require_signed_request_object: true }),
  },
  {
    mistake: 'pushed requests that the provider does not offer',
    code: 'PAR_NOT_OFFERED',
    make: withMetadata(
      { pushed_authorization_request_endpoint: undefined },
      { pushedAuthorizationRequests: true },
    ),
  },
  {
    mistake: 'a provider without refresh tokens',
    code: 'MISSING_REFRESH_TOKEN',
    make: withMetadata({ grant_types_supported: ['authorization_code'] }),
  },
  {
    mistake: 'DPoP that the provider does not offer',
    code: 'DPOP_NOT_ENABLED',
    make(bench) {
      bench.provider.rewrite('discovery', (json) => ({
        ...json,
        dpop_signing_alg_values_supported: undefined,
      }))
      return withDpop(bench)
    },
  },
  {
    mistake: 'a provider without logout',
    code: 'LOGOUT_NOT_OFFERED',
    make: withMetadata({ end_session_endpoint: undefined }, { logoutStrategy: 'oidc' }),
  },
]

export const refusals: readonly Mistake[] = [
  {
    mistake: 'a wrong client secret',
    code: 'CLIENT_REFUSED',
    make: withVariables({ IDP_CLIENT_SECRET: 'not-the-registered-one' }),
  },
  {
    mistake: 'a wrong client secret at a provider that calls the client unauthorized',
    code: 'CLIENT_REFUSED',
    provider: { wrongSecretError: 'unauthorized_client' },
    make: withVariables({ IDP_CLIENT_SECRET: 'not-the-registered-one' }),
  },
  {
    mistake: 'a wrong client secret of an application whose base URL follows from requests',
    code: 'CLIENT_REFUSED',
    make: (bench) => bench.byOptions({ clientSecret: 'not-the-registered-one', appBaseUrl: undefined }),
  },
  {
    mistake: 'a wrong client id',
    code: 'CLIENT_REFUSED',
    make: withVariables({ IDP_CLIENT_ID: 'another-client' }),
  },
  {
    mistake: 'a secret that the provider expects in another place',
    code: 'CLIENT_REFUSED',
    provider: { enforceAuthMethod: true, tokenEndpointAuthMethod: 'client_secret_post' },
    make: withVariables({ IDP_TOKEN_ENDPOINT_AUTH_METHOD: 'client_secret_basic' }),
  },
  {
    mistake: 'a key that is not registered',
    code: 'CLIENT_ASSERTION_REFUSED',
    make: (bench) =>
      bench.byOptions({
        clientId: bench.provider.keyClient.clientId,
        clientSecret: undefined,
        clientAssertionSigningKey: newPem(),
      }),
  },
  {
    mistake: 'no certificate, at a provider that knows the client by one',
    code: 'CLIENT_CERTIFICATE_REFUSED',
    provider: { mtls: true },
    make: withoutCertificate,
  },
  {
    mistake: 'a provider that responds to a wrong code with the status of a failure',
    code: 'PROVIDER_UNAVAILABLE',
    make: faulty('token', respondWith(503, { error: 'invalid_grant' })),
  },
  {
    mistake: 'a client that may not use the code flow',
    code: 'CLIENT_NOT_ALLOWED',
    make: faulty('token', respondWith(400, { error: 'unauthorized_client', error_description: 'alice' })),
  },
  {
    mistake: 'a wrong client secret at a provider that denies access',
    code: 'CLIENT_REFUSED',
    make: faulty('token', respondWith(401, { error: 'access_denied' })),
  },
  {
    mistake: 'an error of the provider that no standard knows',
    code: 'AUTHORIZATION_CODE_GRANT_ERROR',
    make: faulty('token', respondWith(403, { error: 'alice_has_no_licence' })),
  },
  {
    mistake: 'too many requests',
    code: 'RATE_LIMITED',
    make: faulty('token', { kind: 'respond', status: 429 }),
  },
  {
    mistake: 'a firewall in place of the token endpoint',
    code: 'RESPONSE_NOT_OAUTH',
    make: faulty('token', html(200)),
  },
  {
    mistake: 'DPoP that the provider demands',
    code: 'DPOP_REQUIRED',
    make: faulty('token', respondWith(400, { error: 'invalid_dpop_proof' })),
  },
  {
    mistake: 'a DPoP proof that is refused',
    code: 'DPOP_PROOF_REFUSED',
    make(bench) {
      bench.provider.faults.set('token', respondWith(400, { error: 'invalid_dpop_proof' }))
      return withDpop(bench)
    },
  },
  {
    mistake: 'a redirect URI that is not registered',
    code: 'REDIRECT_URI_REFUSED',
    also: ['POST_LOGOUT_URL_REFUSED'],
    provider: { allowLoopbackRedirects: false },
    make: (bench) => bench.byVariables(),
  },
  {
    mistake: 'a redirect URI for which the provider redirects to a page about the error',
    code: 'REDIRECT_URI_REFUSED',
    make: faulty('authorize', { kind: 'redirect', location: '/signin/oauth/error?authError=none' }),
  },
  {
    mistake: 'a redirect URI for which the provider names a page about the error in JSON',
    code: 'REDIRECT_URI_REFUSED',
    make: faulty('authorize', respondWith(200, { redirect: true, url: '/error?error=invalid_redirect' })),
  },
  {
    mistake: 'a redirect URI that a provider refuses which fails at prompt=none',
    code: 'REDIRECT_URI_REFUSED',
    make(bench) {
      const { faults } = bench.provider
      faults.set('authorize', { kind: 'respond', status: 400 })
      faults.set('authorize', { kind: 'respond', status: 500 }, { times: 1 })
      return bench.byVariables()
    },
  },
  {
    mistake: 'a redirect URI that is not registered, with pushed requests',
    code: 'REQUEST_REFUSED',
    also: ['POST_LOGOUT_URL_REFUSED'],
    provider: { allowLoopbackRedirects: false },
    make: (bench) => bench.byOptions({ pushedAuthorizationRequests: true }),
  },
  {
    mistake: 'a post-logout redirect URI that is not registered',
    code: 'POST_LOGOUT_URL_REFUSED',
    provider: {
      allowLoopbackRedirects: false,
      apps: ['http://localhost:3000'],
      appOptions: { callbackPath: '/shop/auth/callback' },
    },
    make: withVariables({ APP_BASE_URL: 'http://localhost:3000/shop' }),
  },
  {
    mistake: 'a scope that the client may not have',
    code: 'SCOPE_REFUSED',
    provider: { offlineAccess: 'refused' },
    make: (bench) => bench.byOptions({ authorizationParameters: { scope: 'openid offline_access' } }),
  },
  {
    mistake: 'an audience that the provider does not know',
    code: 'AUDIENCE_REFUSED',
    make: (bench) =>
      bench.byOptions({ authorizationParameters: { audience: 'https://unknown.example.org/' } }),
  },
]
