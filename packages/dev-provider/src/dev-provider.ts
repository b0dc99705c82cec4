import type { JWK, JWTPayload } from 'jose'
import type { Api } from './apis.ts'
import type { VisitOptions, VisitResult } from './browser/browse.ts'
import type { CookieJar } from './browser/cookie-jar.ts'
import type { LoginOptions, LoginResult } from './browser/login.ts'
import type { ClientCertificate, ClientCertificateOptions } from './certificates.ts'
import type { AppOptions, ClientOptions, RegisteredClient } from './clients.ts'
import type { VirtualClock } from './clock.ts'
import type { Accounts } from './extensions/accounts/accounts.ts'
import type { Ciba } from './extensions/ciba.ts'
import type { LogoutNotice, LogoutSubject } from './extensions/logout-notices.ts'
import type { Mfa } from './extensions/mfa/mfa.ts'
import type { SignOptions } from './keys.ts'
import type { DevProviderSettings } from './options.ts'
import type { User, UserOptions } from './users.ts'
import type { Endpoint } from './wire/endpoints.ts'
import type { Faults } from './wire/faults.ts'
import type { LoggedRequest } from './wire/request-log.ts'
import type { Changes } from './wire/rewrites.ts'

/** The part for clients with certificates (RFC 8705). */
export interface MutualTls {
  /** Origin of the endpoints in `mtls_endpoint_aliases`. */
  readonly origin: string
  /** URL of an API that responds only to access tokens which are bound to the certificate of its caller. */
  readonly api: string
  /** Makes a certificate for a client. */
  issue(options?: ClientCertificateOptions): Promise<ClientCertificate>
}

/** A running provider. Everything in it is its own: two of them share nothing. */
export interface DevProvider extends Changes {
  /** Issuer identifier, exactly as it stands in metadata and tokens. */
  readonly issuer: string
  readonly origin: string
  readonly port: number
  /** Client id and secret of the default client. */
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** A second client, which authenticates with `private_key_jwt`. */
  readonly keyClient: RegisteredClient & { readonly privateKey: string }
  /** Variables for the application under test; `IDP_SECRET` is new in every run. */
  readonly env: Readonly<Record<string, string>>
  /** PEM of the throw-away CA, with https only. */
  readonly ca: string | undefined
  /** File with {@link DevProvider.ca}, for `NODE_EXTRA_CA_CERTS`; removed by `stop`. */
  readonly caPath: string | undefined
  /** Its listener that asks for client certificates, with the option `mtls` only. */
  readonly mtls: MutualTls | undefined
  /** May be changed at any time. */
  readonly settings: DevProviderSettings

  /**
   * Performs the steps of a user at the given authorization URL, and returns the redirect to the application.
   *
   * @throws DevProviderError when the provider shows an error page instead
   */
  login(authorizeUrl: string, options?: LoginOptions): Promise<LoginResult>
  /** Opens any URL of the provider in a browser of its own, for instance to log out. */
  visit(url: string, options?: VisitOptions): Promise<VisitResult>
  /** Cookies for `login` and `visit`; one jar is one browser. */
  createJar(): CookieJar

  /** Requests in the order of their arrival, of one endpoint or of all. */
  requests(endpoint?: Endpoint): readonly LoggedRequest[]
  count(endpoint?: Endpoint): number
  clearRequests(): void

  readonly faults: Faults

  readonly clock: VirtualClock
  /** The published keys. */
  jwks(): { keys: JWK[] }
  /** Makes new signing keys; the old ones are no longer published unless `keepOld` says so. */
  rotateKeys(options?: { readonly keepOld?: boolean }): Promise<void>
  /** Signs any claims with the provider's keys or with a given one. */
  sign(claims: JWTPayload, options?: SignOptions): Promise<string>
  /**
   * Signs an access token of RFC 9068 for the client `api-client`, valid for five minutes. The given claims are added, or replace
   * others; a claim or header that is `undefined` is left out.
   */
  signAccessToken(claims: JWTPayload, options?: SignOptions): Promise<string>

  addClient(options?: ClientOptions): Promise<RegisteredClient>
  addUser(user: UserOptions): Promise<User>
  addApi(api: Api): void
  /** Registers the callback and logout URLs of an application, and on request its back-channel and front-channel logout URLs. */
  registerApp(baseUrl: string, options?: AppOptions): void
  users(): readonly User[]

  readonly ciba: Ciba
  readonly accounts: Accounts
  readonly mfa: Mfa
  /** Claims and signature of a correct logout token for a client; `change` makes a wrong one. */
  logoutToken(
    subject: LogoutSubject,
    options?: {
      readonly clientId?: string
      readonly change?: (claims: JWTPayload) => void
      readonly sign?: SignOptions
    },
  ): Promise<string>
  /** Ends all sessions of a user at the provider, which posts logout tokens to the applications. */
  endSessions(user: string): Promise<void>
  /** Logout tokens that were posted to applications. */
  logoutNotices(): readonly LogoutNotice[]

  /** Closes every connection and frees the port. Safe to call twice. */
  stop(): Promise<void>
}
