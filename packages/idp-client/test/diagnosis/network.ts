import type { DevProvider } from 'idp-dev-provider'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { selfSigned, serveTls } from '../support/certificate.ts'
import { startFront } from '../support/front.ts'
import { presenting } from '../support/mutual-tls.ts'
import { fetchTrusting } from '../support/secure-provider.ts'
import type { Bench, Mistake } from './bench.ts'

type Endpoint = Parameters<DevProvider['faults']['set']>[0]
type Fault = Parameters<DevProvider['faults']['set']>[1]

/** A login with a client whose provider is said to be elsewhere. */
async function loginAt(bench: Bench, domain: string, options: IdpClientOptions = {}): Promise<void> {
  const world = await bench.start({ ...options, domain })
  await bench.login(world)
}

const html = (status: number): Fault => ({
  kind: 'respond',
  status,
  body: '<html><body>Please sign in to the network, alice</body></html>',
  headers: { 'content-type': 'text/html' },
})

function faulty(endpoint: Endpoint, fault: Fault, options: IdpClientOptions = {}): Mistake['make'] {
  return async (bench) => {
    const world = await bench.start(options)
    world.provider.faults.set(endpoint, fault)
    await bench.login(world)
  }
}

/** A https server that is no provider, reached by a client that trusts `ca`. */
function certified(host: string, { days, trusted }: { days?: number; trusted: boolean }): Mistake['make'] {
  return async (bench) => {
    const identity = await selfSigned(host, days)
    const { stop, url } = await serveTls(identity)
    bench.defer(stop)
    await loginAt(bench, url, trusted ? { [customFetch]: fetchTrusting(identity.cert) } : {})
  }
}

/** A server that ends the handshake of clients without a good certificate; this one has expired. */
async function demandingCertificate(bench: Bench): Promise<void> {
  const [server, client] = await Promise.all([selfSigned('localhost'), selfSigned('app', -1)])
  const { stop, url } = await serveTls({
    ...server,
    requestCert: true,
    rejectUnauthorized: true,
    ca: client.cert,
  })
  bench.defer(stop)
  const present = presenting(client, server.cert)
  await loginAt(bench, url, { [customFetch]: async (input, init = {}) => present(String(input), init) })
}

/** A client without a certificate at a server that demands one in TLS 1.2. */
function demandedAtOnce(options: IdpClientOptions): Mistake['make'] {
  return async (bench) => {
    const server = await selfSigned('localhost')
    const demands = { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' } as const
    const { stop, url } = await serveTls({ ...server, ...demands })
    bench.defer(stop)
    const send = presenting(undefined, server.cert)
    await loginAt(bench, url, {
      ...options,
      [customFetch]: async (input, init = {}) => send(String(input), init),
    })
  }
}

async function onStoppedProvider(bench: Bench): Promise<void> {
  const world = await bench.start()
  await world.provider.stop()
  await bench.login(world)
}

async function onPortWithoutServer(bench: Bench): Promise<void> {
  const front = await startFront(() => {})
  await front.stop()
  await loginAt(bench, front.url)
}

async function onPortOfSomethingElse(bench: Bench): Promise<void> {
  const front = await startFront((_request, response) => response.writeHead(404).end('not here'))
  bench.defer(() => front.stop())
  await loginAt(bench, front.url)
}

async function onHttpPortByHttps(bench: Bench): Promise<void> {
  const front = await startFront((_request, response) => response.end('{}'))
  bench.defer(() => front.stop())
  await loginAt(bench, front.url.replace('http:', 'https:'))
}

/** Mistakes about where the provider is, and what lies between. */
export const network: readonly Mistake[] = [
  {
    mistake: 'a host name that does not exist',
    remedy: 'UNKNOWN_HOST',
    make: (bench) => loginAt(bench, 'https://idp.invalid'),
  },
  { mistake: 'the provider is down', remedy: 'CONNECTION_REFUSED', make: onStoppedProvider },
  { mistake: 'a port that nothing listens at', remedy: 'CONNECTION_REFUSED', make: onPortWithoutServer },
  {
    mistake: 'a network without a way out',
    remedy: 'NETWORK_UNREACHABLE',
    // As undici rejects: a test cannot take the routes of its machine away.
    make: async (bench) => {
      const world = await bench.start({
        [customFetch]: () => {
          const cause = Object.assign(new Error('connect ENETUNREACH 192.0.2.1:443'), { code: 'ENETUNREACH' })
          return Promise.reject(new TypeError('fetch failed', { cause }))
        },
      })
      await bench.login(world)
    },
  },
  { mistake: 'the port of another server', remedy: 'DISCOVERY_NOT_FOUND', make: onPortOfSomethingElse },
  { mistake: 'https:// for a plain http port', remedy: 'NOT_TLS', make: onHttpPortByHttps },
  {
    mistake: 'http:// for an https port',
    remedy: 'CONNECTION_LOST',
    async make(bench) {
      const { stop, url } = await serveTls(await selfSigned('localhost'))
      bench.defer(stop)
      await loginAt(bench, url.replace('https:', 'http:'))
    },
  },
  {
    mistake: 'a self-signed certificate',
    remedy: 'CERTIFICATE_NOT_TRUSTED',
    make: certified('localhost', { trusted: false }),
  },
  {
    mistake: 'a certificate of an authority of their own',
    remedy: 'CERTIFICATE_NOT_TRUSTED',
    async make(bench) {
      const world = await bench.start({}, { https: true })
      await bench.login(world)
    },
  },
  {
    mistake: 'a certificate that has expired',
    remedy: 'CERTIFICATE_EXPIRED',
    make: certified('localhost', { trusted: true, days: -1 }),
  },
  {
    mistake: 'a server that rejects the expired certificate of the client',
    remedy: 'CONNECTION_LOST',
    make: demandingCertificate,
  },
  {
    mistake: 'a server that demands a certificate of a client that has none',
    remedy: 'CONNECTION_LOST',
    make: demandedAtOnce({}),
  },
  {
    mistake: 'a server that demands the certificate of a client that does not present it',
    remedy: 'CLIENT_CERTIFICATE_REFUSED',
    make: demandedAtOnce({ clientSecret: undefined, clientCertificate: true }),
  },
  {
    mistake: 'a certificate for another name',
    remedy: 'CERTIFICATE_HOST',
    make: certified('idp.example.org', { trusted: true }),
  },
  {
    mistake: 'a realm that does not exist',
    remedy: 'DISCOVERY_NOT_FOUND',
    async make(bench) {
      const world = await bench.start({}, { path: '/realms/shop' })
      const { browser } = world.another({ domain: `${world.provider.origin}/realms/shops` })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a trailing slash that the issuer does not have',
    remedy: 'DISCOVERY_ISSUER_MISMATCH',
    async make(bench) {
      const world = await bench.start({}, { path: '/realms/shop' })
      const { browser } = world.another({ domain: `${world.provider.issuer}/` })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'another name of the same provider: a custom domain',
    remedy: 'DISCOVERY_ISSUER_MISMATCH',
    async make(bench) {
      const world = await bench.start()
      const { browser } = world.another({ domain: world.provider.issuer.replace('127.0.0.1', 'localhost') })
      await bench.login(world, { browser })
    },
  },
  {
    mistake: 'a captive portal in place of the provider',
    remedy: 'DISCOVERY_NOT_JSON',
    make: faulty('discovery', html(200)),
  },
  {
    mistake: 'an address that redirects',
    remedy: 'PROVIDER_REDIRECTS',
    make: faulty('discovery', { kind: 'redirect', location: 'https://new.example.test/' }),
  },
  {
    mistake: 'a provider that takes too long to respond with its metadata',
    remedy: 'PROVIDER_TIMEOUT',
    make: faulty('discovery', { kind: 'hang' }, { httpTimeout: 300 }),
  },
  {
    mistake: 'a provider that fails with 500 at discovery',
    remedy: 'PROVIDER_UNAVAILABLE',
    make: faulty('discovery', html(500)),
  },
  {
    mistake: 'keys that cannot be loaded',
    remedy: 'JWKS_ERROR',
    make: faulty('jwks', { kind: 'reset' }),
  },
  {
    mistake: 'a provider that takes too long to redeem the code',
    remedy: 'PROVIDER_TIMEOUT',
    make: faulty('token', { kind: 'hang' }, { httpTimeout: 300 }),
  },
  {
    mistake: 'a connection that breaks at the token endpoint',
    remedy: 'CONNECTION_LOST',
    make: faulty('token', { kind: 'reset' }),
  },
  {
    mistake: 'a provider behind a gateway that passes its refusal on with the status of a failure',
    remedy: 'PROVIDER_UNAVAILABLE',
    make: faulty('token', {
      kind: 'respond',
      status: 503,
      body: JSON.stringify({ error: 'invalid_grant' }),
      headers: { 'content-type': 'application/json' },
    }),
  },
  {
    mistake: 'a provider that fails with 503 at the token endpoint',
    remedy: 'PROVIDER_UNAVAILABLE',
    make: faulty('token', { kind: 'respond', status: 503, headers: { 'retry-after': '1' } }),
  },
  {
    mistake: 'too many requests',
    remedy: 'RATE_LIMITED',
    make: faulty('token', { kind: 'respond', status: 429 }),
  },
  {
    mistake: 'a login page of a network in place of the token endpoint',
    remedy: 'RESPONSE_NOT_OAUTH',
    make: faulty('token', html(200)),
  },
  {
    mistake: 'a firewall in front of UserInfo',
    remedy: 'RESPONSE_NOT_OAUTH',
    async make(bench) {
      const world = await bench.start({ fetchUserInfo: true })
      world.provider.faults.set('userinfo', html(403))
      await bench.login(world)
    },
  },
  {
    mistake: 'a firewall that rejects the telemetry header',
    remedy: 'RESPONSE_NOT_OAUTH',
    async make(bench) {
      const world = await bench.start()
      world.provider.faults.set('token', html(403), { when: ({ headers }) => 'idp-client' in headers })
      const without = world.another({ enableTelemetry: false, logger: undefined })
      const worked = await bench.login(world, { browser: without.browser })
      if (worked.status !== 302) throw new Error('without the header it works')
      await bench.login(world)
    },
  },
]
