import type { Api } from './apis.ts'
import type { AppOptions, ClientOptions, SigningAlg, TokenEndpointAuthMethod } from './clients.ts'
import { DevProviderError } from './error.ts'
import type { AccessTokenProfile } from './extensions/access-token-profile.ts'
import { ACCESS_TOKEN_PROFILES } from './extensions/access-token-profile.ts'
import { GRANTED_DETAILS } from './extensions/authorization-details.ts'
import type { AssertionAudience, WrongSecretError } from './extensions/client-authentication.ts'
import { ASSERTION_AUDIENCES, WRONG_SECRET_ERRORS } from './extensions/client-authentication.ts'
import type { CertificateBinding } from './extensions/client-certificates.ts'
import { CERTIFICATE_BINDINGS } from './extensions/client-certificates.ts'
import type { FrontChannelParameters } from './extensions/front-channel-logout.ts'
import { FRONT_CHANNEL_PARAMETERS } from './extensions/front-channel-logout.ts'
import type { OfflineAccess } from './extensions/offline-access.ts'
import { OFFLINE_ACCESS } from './extensions/offline-access.ts'
import type { UserOptions } from './users.ts'

/** Settings that may change while the provider runs; read again at every use. */
const INTROSPECTION_OF = ['own', 'any'] as const

export interface DevProviderSettings {
  /**
   * Signs users in without showing the login page: a user name, or `true` for the user that `login_hint` names.
   * A `login_hint` that names a known user wins over the configured name. Off by default.
   */
  autoLogin: string | boolean
  /** Lifetime of access tokens in seconds; default 3600. An API may have its own. */
  accessTokenTtl: number
  /** Type and claims of JWT access tokens; default `rfc9068`. See {@link AccessTokenProfile}. */
  accessTokenProfile: AccessTokenProfile
  /** Lifetime of ID tokens in seconds; default 3600. */
  idTokenTtl: number
  /** Lifetime of refresh tokens in seconds; default 14 days. */
  refreshTokenTtl: number
  /** Lifetime of authorization codes in seconds; default 60. */
  codeTtl: number
  /** Lifetime of the provider's own browser session in seconds; default 14 days. */
  sessionTtl: number
  /**
   * Every refresh returns a new refresh token; presenting a used one revokes the whole family
   * (RFC 9700, section 2.2.2). Default true.
   */
  rotateRefreshTokens: boolean
  /** A used refresh token revokes its whole family. Default true; with false it is only refused. */
  revokeOnReuse: boolean
  /**
   * `auth_time` of a refreshed ID token is that of the latest login in the same browser session, as at Keycloak. Default
   * false: that of the login which the refresh token comes from.
   */
  refreshMovesAuthTime: boolean
  /** How the provider treats the scope `offline_access`; default `listed`. See {@link OfflineAccess}. */
  offlineAccess: OfflineAccess
  /**
   * Clients must authenticate by the method that they are registered for. Default false: a client with a secret may send
   * it in the header or in the body.
   */
  enforceAuthMethod: boolean
  /**
   * Client id and secret in an `Authorization: Basic` header are decoded as RFC 6749, section 2.3.1 wants it. Default
   * true; with false they are compared as they were sent.
   */
  decodeBasic: boolean
  /**
   * Error code of the 401 response to a wrong client secret. Default `invalid_client`; `unauthorized_client` as at
   * Keycloak and Glewlwyd.
   */
  wrongSecretError: WrongSecretError
  /**
   * `token_endpoint`: a client assertion must name the token endpoint as its only audience, at every endpoint. Default
   * `any`: the issuer and the endpoint in use are accepted, too.
   */
  assertionAudience: AssertionAudience
  /**
   * The tokens that a client may introspect: its own (`own`, default), or with `any` those of all clients, as an API needs it
   * that receives tokens of several clients.
   */
  introspectionOf: (typeof INTROSPECTION_OF)[number]
  /** The certificate that JWT access tokens are bound to, of clients that demand it; default `right`. See {@link CertificateBinding}. */
  certificateBinding: CertificateBinding
  /** Logout tokens have an `exp`, as the standard wants it. Default true. */
  logoutTokenExp: boolean
  /** Parameters of the iframes of front-channel logout; default `iss-and-sid`. See {@link FrontChannelParameters}. */
  frontChannelParameters: FrontChannelParameters
  /**
   * ID tokens have the claim `session_expiry`: a number counts from the authentication of the user, in seconds, and may be
   * negative; a text is sent as it is, such as a wrong value. Default false: no claim.
   */
  sessionExpiry: number | string | false
  /**
   * The `authorization_details` of tokens (RFC 9396): those of the request (`requested`, default), or with `other` details
   * that were not requested.
   */
  grantedDetails: (typeof GRANTED_DETAILS)[number]
  /** Every DPoP proof must carry a nonce of the provider (RFC 9449, section 8). Default false. */
  dpopNonces: boolean
  /**
   * Accepts any redirect and post-logout redirect URI on a loopback host beside the registered ones. Default true,
   * because the port of an application under test is known late. The command line turns it off.
   */
  allowLoopbackRedirects: boolean
  /**
   * The authorization endpoint ignores request objects (RFC 9101) of clients that do not have to sign their requests, and
   * takes the parameters outside. Default false.
   */
  ignoreRequestObjects: boolean
  /** Backchannel authentication requests are approved as soon as they arrive. Default false. */
  cibaAutoApprove: boolean
  /** Polling interval, in seconds, told to CIBA clients; default 1. */
  cibaInterval: number
  /**
   * Seconds after a verification for which an API that demands a further factor is content with it, at one login;
   * default 3600. With 0 every token request is asked anew.
   */
  mfaTtl: number
  /** Seconds between two questions whether an out-of-band message was approved; sooner is `slow_down`. Default 1. */
  mfaInterval: number
  /**
   * Tokens of a connection need an account that the user connected. Default false: a connection that a user never
   * connected an account of still issues tokens, as if the login had used it.
   */
  connectionsNeedAccounts: boolean
  /** Connected accounts on one page of the list, unless the request says otherwise; default 10. */
  accountPageSize: number
}

/** Options of {@link startDevProvider}; every one is optional. */
export interface DevProviderOptions extends Partial<DevProviderSettings> {
  /**
   * Loopback host of the issuer: `localhost` (default), `127.0.0.1`, `[::1]` or a name below `.localhost`.
   * `127.0.0.1` makes provider and an application on `localhost` different sites for a browser.
   */
  readonly host?: string
  /** TCP port; 0 (default) takes a free one. */
  readonly port?: number
  /** Serves https with a certificate of a CA that is made for this run. Default false. */
  readonly https?: boolean
  /**
   * Serves once more, on a port of its own that asks for client certificates (RFC 8705), and names it in `mtls_endpoint_aliases`;
   * implies {@link DevProviderOptions.https}. Default false.
   */
  readonly mtls?: boolean
  /** Path of the issuer, for example `/tenant-a`. Default none. */
  readonly path?: string
  /** Base URLs of applications to register with the default client; see `registerApp`. */
  readonly apps?: readonly string[]
  /** How {@link DevProviderOptions.apps} are registered. */
  readonly appOptions?: Omit<AppOptions, 'clientId'>
  /** Users beside alice, bob and mallory. */
  readonly users?: readonly UserOptions[]
  /** Clients beside the default one and the one that authenticates by key. */
  readonly clients?: readonly ClientOptions[]
  /** APIs that access tokens can be issued for; replaces the three default ones. */
  readonly apis?: readonly Api[]
  /** The types of `authorization_details` that requests may have; default `account_information`, `payment`, `payment_initiation`. */
  readonly authorizationDetailsTypes?: readonly string[]
  /** Upstream connections that can hand out tokens; default `google-oauth2` and `github`. */
  readonly connections?: readonly string[]
  /** ID token algorithm of the default client; default RS256. */
  readonly idTokenSigningAlg?: SigningAlg
  /** Responses of the UserInfo endpoint to the default client are JWTs with this algorithm; default plain JSON. */
  readonly userinfoSigningAlg?: SigningAlg
  /** Client authentication of the default client. `client_secret_basic` (default) also accepts the post form. */
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod
  /** The default client must use pushed authorization requests (RFC 9126). Default false. */
  readonly requirePar?: boolean
  /** The default client must bind its tokens with DPoP. Default false. */
  readonly requireDpop?: boolean
  /** Advertises `end_session_endpoint`. Default true; `/v2/logout` is there either way. */
  readonly endSession?: boolean
  /**
   * Decides which subject tokens of foreign types the token exchange accepts; returns a user name or
   * `undefined` to refuse. Default: the token is the name or `sub` of a known user.
   */
  readonly acceptSubjectToken?: (token: string, type: string) => string | undefined
  /**
   * The time in seconds since the epoch, for tests in which the provider shares the clock of the application. Read at
   * every use; `provider.clock` moves the provider away from it. Default: real time.
   */
  readonly clock?: () => number
  /** Receives one line per request and per problem. Default: nothing is printed. */
  readonly log?: (line: string) => void
}

const DAY = 86_400

/** The settings of a run: the given options over the defaults. */
export function resolveSettings(options: DevProviderOptions): DevProviderSettings {
  return {
    autoLogin: options.autoLogin ?? false,
    accessTokenTtl: options.accessTokenTtl ?? 3600,
    accessTokenProfile: options.accessTokenProfile ?? 'rfc9068',
    idTokenTtl: options.idTokenTtl ?? 3600,
    refreshTokenTtl: options.refreshTokenTtl ?? 14 * DAY,
    codeTtl: options.codeTtl ?? 60,
    sessionTtl: options.sessionTtl ?? 14 * DAY,
    rotateRefreshTokens: options.rotateRefreshTokens ?? true,
    revokeOnReuse: options.revokeOnReuse ?? true,
    refreshMovesAuthTime: options.refreshMovesAuthTime ?? false,
    offlineAccess: options.offlineAccess ?? 'listed',
    enforceAuthMethod: options.enforceAuthMethod ?? false,
    decodeBasic: options.decodeBasic ?? true,
    wrongSecretError: options.wrongSecretError ?? 'invalid_client',
    assertionAudience: options.assertionAudience ?? 'any',
    introspectionOf: options.introspectionOf ?? 'own',
    certificateBinding: options.certificateBinding ?? 'right',
    logoutTokenExp: options.logoutTokenExp ?? true,
    frontChannelParameters: options.frontChannelParameters ?? 'iss-and-sid',
    sessionExpiry: options.sessionExpiry ?? false,
    grantedDetails: options.grantedDetails ?? 'requested',
    dpopNonces: options.dpopNonces ?? false,
    allowLoopbackRedirects: options.allowLoopbackRedirects ?? true,
    ignoreRequestObjects: options.ignoreRequestObjects ?? false,
    cibaAutoApprove: options.cibaAutoApprove ?? false,
    cibaInterval: options.cibaInterval ?? 1,
    mfaTtl: options.mfaTtl ?? 3600,
    mfaInterval: options.mfaInterval ?? 1,
    connectionsNeedAccounts: options.connectionsNeedAccounts ?? false,
    accountPageSize: options.accountPageSize ?? 10,
  }
}

/** The settings that take one of a few words. */
const WORDS: Partial<Record<keyof DevProviderSettings, readonly string[]>> = {
  accessTokenProfile: ACCESS_TOKEN_PROFILES,
  certificateBinding: CERTIFICATE_BINDINGS,
  frontChannelParameters: FRONT_CHANNEL_PARAMETERS,
  grantedDetails: GRANTED_DETAILS,
  introspectionOf: INTROSPECTION_OF,
  offlineAccess: OFFLINE_ACCESS,
  assertionAudience: ASSERTION_AUDIENCES,
  wrongSecretError: WRONG_SECRET_ERRORS,
}

function isSetting(defaults: DevProviderSettings, name: string): name is keyof DevProviderSettings {
  return Object.hasOwn(defaults, name)
}

/**
 * Settings in the form of `name=value`, as the command line takes them.
 *
 * @throws DevProviderError when there is no such setting, or it does not take the value
 */
export function readSettings(pairs: readonly string[]): Partial<DevProviderSettings> {
  const defaults = resolveSettings({})
  const read = pairs.map((pair): readonly [string, unknown] => {
    const [name = '', ...rest] = pair.split('=')
    if (!isSetting(defaults, name)) {
      throw new DevProviderError(
        `--set: there is no setting ${name}. There are ${Object.keys(defaults).join(', ')}.`,
      )
    }
    return [name, readSetting(name, typeof defaults[name], rest.join('='))]
  })
  return Object.fromEntries(read)
}

function readSetting(name: keyof DevProviderSettings, type: string, text: string): unknown {
  const words = WORDS[name]
  if (words?.includes(text)) return text
  if (words) throw new DevProviderError(`--set ${name}: use ${words.join(' or ')}.`)
  if (name === 'sessionExpiry' && text !== '' && text !== 'false')
    return /^-?\d+$/.test(text) ? Number(text) : text
  if (type === 'number' && /^\d+$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (name === 'autoLogin' && text !== '') return text
  throw new DevProviderError(`--set ${name}: use ${type === 'number' ? 'an integer' : 'true or false'}.`)
}
