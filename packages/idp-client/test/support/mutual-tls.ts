import type { ClientCertificate, ClientCertificateOptions, DevProvider, MutualTls } from 'idp-dev-provider'
import { Agent, fetch } from 'undici'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from './app.ts'
import { APP, startWorld } from './app.ts'

/** An API of the development provider with JWT access tokens. */
export const AUDIENCE = 'https://api.example.test/'

/** A client and a provider that asks for its certificate. */
export interface CertificateWorld extends World {
  readonly mtls: MutualTls
  /** The certificate that `[customFetch]` presents; tests replace it, as a rotation does. */
  readonly presented: { current: Pick<ClientCertificate, 'cert' | 'key'> | undefined }
  /** Hosts and paths that `[customFetch]` was called for. */
  readonly called: string[]
  readonly present: typeof globalThis.fetch
  /** Options of a client that authenticates by a certificate of the provider's CA, and demands bound tokens. */
  readonly bank: IdpClientOptions
  issue(options?: ClientCertificateOptions): Promise<ClientCertificate>
}

/** Returns a `fetch` that presents no certificate, or the given one. */
export function presenting(
  identity: Pick<ClientCertificate, 'cert' | 'key'> | undefined,
  ca: string | undefined,
): (url: string, init: object) => Promise<Response> {
  const dispatcher = new Agent({ connect: { ...identity, ...(ca === undefined ? {} : { ca }) } })
  // Its classes are not the global ones: it takes their headers, signals and streams, but no `FormData`.
  const send: CallableFunction = fetch
  return (url, init) => Reflect.apply(send, undefined, [url, { ...init, dispatcher }])
}

function requireMtls({ mtls }: DevProvider): MutualTls {
  if (!mtls) throw new TypeError('The provider asks for no certificate.')
  return mtls
}

export async function startCertificateWorld(): Promise<CertificateWorld> {
  const presented: CertificateWorld['presented'] = { current: undefined }
  const called: string[] = []
  const fetches = new Map<string, ReturnType<typeof presenting>>()
  let ca: string | undefined
  const present: typeof globalThis.fetch = async (input, init = {}) => {
    const { current } = presented
    const known = fetches.get(current?.cert ?? '') ?? presenting(current, ca)
    fetches.set(current?.cert ?? '', known)
    const url = String(input)
    called.push(url.split('?', 1)[0] ?? url)
    return known(url, init)
  }
  const world = await startWorld(
    {
      [customFetch]: present,
      authorizationParameters: { audience: AUDIENCE, scope: 'openid profile offline_access read:things' },
    },
    { mtls: true },
  )
  ca = world.provider.ca
  const mtls = requireMtls(world.provider)
  await world.provider.addClient({
    clientId: 'bank-app',
    tokenEndpointAuthMethod: 'tls_client_auth',
    requireCertificateBinding: true,
    apps: [APP],
  })
  const bank: IdpClientOptions = {
    clientId: 'bank-app',
    clientSecret: undefined,
    clientCertificate: true,
    certificateBoundAccessTokens: true,
  }
  return {
    ...world,
    mtls,
    presented,
    called,
    present,
    bank,
    issue: async (options) => mtls.issue({ subject: 'CN=bank-app', ...options }),
  }
}
