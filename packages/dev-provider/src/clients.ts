import { randomBytes } from 'node:crypto'
import type { JWK } from 'jose'
import type { ClientMetadata } from 'oidc-provider'
import { DevProviderError } from './error.ts'
import { toCertificateJwk } from './extensions/client-certificates.ts'
import type { SigningAlg } from './keys.ts'
import { createKeyPair } from './keys.ts'

export type { SigningAlg } from './keys.ts'

export type TokenEndpointAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'private_key_jwt'
  | 'tls_client_auth'
  | 'self_signed_tls_client_auth'
  | 'none'

export interface ClientOptions {
  /** Default a random one. */
  readonly clientId?: string
  /** Default a random one, for the methods that need it. */
  readonly clientSecret?: string
  /** Default `client_secret_basic`; either secret method also accepts the other one's form. */
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod
  /** Public keys for `private_key_jwt`, without which a pair is generated and returned, and for signed requests. */
  readonly jwks?: { readonly keys: readonly JWK[] }
  /** Instead of {@link ClientOptions.jwks}: where the application publishes its public keys, also on this machine. */
  readonly jwksUri?: string
  /** Algorithm of the generated `private_key_jwt` pair; default ES256. */
  readonly privateKeyAlg?: SigningAlg
  /** Default RS256. */
  readonly idTokenSigningAlg?: SigningAlg
  /** Responses of the UserInfo endpoint are JWTs with this algorithm, as `application/jwt`. Default: plain JSON. */
  readonly userinfoSigningAlg?: SigningAlg
  readonly redirectUris?: readonly string[]
  /** An asterisk stands for any run of characters without a slash, in `/v2/logout` only. */
  readonly postLogoutRedirectUris?: readonly string[]
  /** Base URLs of its applications; see `registerApp`. */
  readonly apps?: readonly string[]
  readonly requirePar?: boolean
  readonly requireDpop?: boolean
  /** Subject of the certificate for `tls_client_auth`, which the provider's CA must have issued; default `CN=<client id>`. */
  readonly certificateSubject?: string
  /** Certificates (PEM) for `self_signed_tls_client_auth`. */
  readonly certificates?: readonly string[]
  /** Access tokens are bound to the certificate that the client presents (RFC 8705). Default false. */
  readonly requireCertificateBinding?: boolean
  /** Authorization requests must be signed (RFC 9101) by one of {@link ClientOptions.jwks}. Default false. */
  readonly requireSignedRequests?: boolean
  /** ID tokens always carry `auth_time`, not only if `max_age` was requested. Default false. */
  readonly requireAuthTime?: boolean
  /** Shown on the login page; default the client id. */
  readonly name?: string
}

export interface AppOptions {
  /** Client that the application uses; default the provider's default client. */
  readonly clientId?: string
  /** Callback path or paths below the base URL; default `/auth/callback`. */
  readonly callbackPath?: string | readonly string[]
  /** Where a logout may return to beside the base URL: paths below it, or absolute URLs. Default none. */
  readonly logoutUrls?: readonly string[]
  /**
   * Where logout tokens are posted: a path below the base URL, an absolute URL, or `true` for
   * `/auth/backchannel-logout`. Default: nowhere, because an application without a session store rejects them.
   */
  readonly backChannelLogout?: string | boolean
  /**
   * Which page an iframe of the logout page loads: a path below the base URL, an absolute URL, or `true` for
   * `/auth/frontchannel-logout`. Default: none.
   */
  readonly frontChannelLogout?: string | boolean
}

/** The configuration of a client that an application needs. */
export interface RegisteredClient {
  readonly clientId: string
  readonly clientSecret?: string
  /** PKCS#8, of a generated `private_key_jwt` pair. */
  readonly privateKey?: string
  /** Algorithm that {@link RegisteredClient.privateKey} signs with. */
  readonly privateKeyAlg?: SigningAlg
}

export interface Client extends RegisteredClient {
  readonly options: ClientOptions
  readonly publicJwks: readonly JWK[]
  readonly redirectUris: Set<string>
  readonly postLogoutRedirectUris: Set<string>
  readonly backChannelLogoutUris: Set<string>
  readonly frontChannelLogoutUris: Set<string>
}

export interface ClientRegistry {
  all(): readonly Client[]
  find(clientId: string): Client | undefined
  add(options: ClientOptions): Promise<Client>
  registerApp(baseUrl: string, options: AppOptions & { readonly clientId: string }): void
  /** The client as oidc-provider wants to see it. */
  metadata(clientId: string): ClientMetadata | undefined
}

export const GRANT_TYPES = {
  ciba: 'urn:openid:params:grant-type:ciba',
  tokenExchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
  federatedConnection: 'urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token',
  mfaOtp: 'http://auth0.com/oauth/grant-type/mfa-otp',
  mfaOob: 'http://auth0.com/oauth/grant-type/mfa-oob',
  mfaRecoveryCode: 'http://auth0.com/oauth/grant-type/mfa-recovery-code',
} as const

// oidc-provider knows one back-channel URI per client, while several applications may share a client.
// It is given this address, which nothing resolves; the provider's `fetch` turns it into the real ones.
const FAN_OUT = 'https://backchannel-logout.invalid/'

export function fanOutUri(clientId: string): string {
  return FAN_OUT + encodeURIComponent(clientId)
}

/** The client that a fan-out address stands for, if it is one. */
export function fanOutClient(url: string): string | undefined {
  return url.startsWith(FAN_OUT) ? decodeURIComponent(url.slice(FAN_OUT.length)) : undefined
}

async function createClient(options: ClientOptions): Promise<Client> {
  const method = options.tokenEndpointAuthMethod ?? 'client_secret_basic'
  const withSecret = method === 'client_secret_basic' || method === 'client_secret_post'
  const alg = options.privateKeyAlg ?? 'ES256'
  const hasKeys = options.jwks !== undefined || options.jwksUri !== undefined
  const pair = method === 'private_key_jwt' && !hasKeys ? await createKeyPair(alg) : undefined
  return {
    clientId: options.clientId ?? `client-${randomBytes(6).toString('hex')}`,
    ...(withSecret ? { clientSecret: options.clientSecret ?? randomBytes(24).toString('base64url') } : {}),
    ...(pair ? { privateKey: pair.privatePem, privateKeyAlg: alg } : {}),
    options,
    publicJwks: [
      ...(options.jwks?.keys ?? (pair ? [pair.publicJwk] : [])),
      ...(options.certificates ?? []).map(toCertificateJwk),
    ],
    redirectUris: new Set(options.redirectUris),
    postLogoutRedirectUris: new Set(options.postLogoutRedirectUris),
    backChannelLogoutUris: new Set(),
    frontChannelLogoutUris: new Set(),
  }
}

function toMetadata(client: Client): ClientMetadata {
  const { options } = client
  return {
    client_id: client.clientId,
    ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
    ...(client.publicJwks.length > 0 ? { jwks: { keys: structuredClone([...client.publicJwks]) } } : {}),
    ...(options.jwksUri === undefined ? {} : { jwks_uri: options.jwksUri }),
    client_name: options.name ?? client.clientId,
    token_endpoint_auth_method: options.tokenEndpointAuthMethod ?? 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials', ...Object.values(GRANT_TYPES)],
    response_types: ['code'],
    // oidc-provider refuses a client without any; a client gets its real ones when an app registers.
    redirect_uris:
      client.redirectUris.size > 0 ? [...client.redirectUris] : ['https://unregistered.invalid/'],
    post_logout_redirect_uris: [...client.postLogoutRedirectUris].filter((uri) => !uri.includes('*')),
    id_token_signed_response_alg: options.idTokenSigningAlg ?? 'RS256',
    ...(options.userinfoSigningAlg ? { userinfo_signed_response_alg: options.userinfoSigningAlg } : {}),
    backchannel_token_delivery_mode: 'poll',
    // `sid` is put into ID tokens only for clients that ask for it here.
    backchannel_logout_session_required: true,
    backchannel_logout_uri: fanOutUri(client.clientId),
    require_pushed_authorization_requests: options.requirePar ?? false,
    dpop_bound_access_tokens: options.requireDpop ?? false,
    tls_client_certificate_bound_access_tokens: options.requireCertificateBinding ?? false,
    ...(options.tokenEndpointAuthMethod === 'tls_client_auth'
      ? { tls_client_auth_subject_dn: options.certificateSubject ?? `CN=${client.clientId}` }
      : {}),
    require_signed_request_object: options.requireSignedRequests ?? false,
    require_auth_time: options.requireAuthTime ?? false,
  }
}

function below(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/+$/, '') + (path.startsWith('/') ? path : `/${path}`)
}

function absolute(baseUrl: string, target: string): string {
  return URL.canParse(target) ? target : below(baseUrl, target)
}

function registerAt(client: Client, baseUrl: string, options: AppOptions): void {
  if (!URL.canParse(baseUrl)) {
    throw new DevProviderError('registerApp needs an absolute base URL such as http://localhost:3000.')
  }
  const paths = options.callbackPath ?? '/auth/callback'
  for (const path of typeof paths === 'string' ? [paths] : paths) {
    client.redirectUris.add(below(baseUrl, path))
  }
  const root = baseUrl.replace(/\/+$/, '')
  client.postLogoutRedirectUris.add(root).add(`${root}/`)
  for (const url of options.logoutUrls ?? []) client.postLogoutRedirectUris.add(absolute(baseUrl, url))
  const add = (uris: Set<string>, given: string | boolean, path: string): void => {
    if (given !== false) uris.add(absolute(baseUrl, given === true ? path : given))
  }
  add(client.backChannelLogoutUris, options.backChannelLogout ?? false, '/auth/backchannel-logout')
  add(client.frontChannelLogoutUris, options.frontChannelLogout ?? false, '/auth/frontchannel-logout')
}

/** The clients of one provider; all of them can be added to at run time. */
export function createClientRegistry(): ClientRegistry {
  const clients = new Map<string, Client>()
  return {
    all: () => [...clients.values()],
    find: (clientId) => clients.get(clientId),
    add: async (options) => {
      const client = await createClient(options)
      for (const app of options.apps ?? []) registerAt(client, app, {})
      clients.set(client.clientId, client)
      return client
    },
    registerApp: (baseUrl, options) => {
      const client = clients.get(options.clientId)
      if (!client) throw new DevProviderError('registerApp: there is no client with that id; add it first.')
      registerAt(client, baseUrl, options)
    },
    metadata: (clientId) => {
      const client = clients.get(clientId)
      return client && toMetadata(client)
    },
  }
}
