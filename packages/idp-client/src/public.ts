// Exports that every host entry shares beside its own client: a new public type is added here only.

export type {
  CrossSiteLoginParameter,
  LogoutStrategy,
  PageRouteKey,
  RouteKey,
  RoutePaths,
} from './config/config.ts'
export type { AccessTokenFactory, FetcherOptions, TypedAccessToken } from './config/fetcher.ts'
export type {
  BeforeSessionSavedHook,
  ConnectedAccount,
  OnCallbackContext,
  OnCallbackHook,
  OnCallbackResult,
  OnCallbackReturn,
} from './config/hooks.ts'
export type * from './config/mfa.ts'
export * from './config/options.ts'
export type { CertificateRequest, ClientCertificate, ResourceOptions } from './config/resource.ts'
export type { GetAccessTokenOptions } from './config/token-options.ts'
export type { VendorKey } from './config/vendor.ts'
export type { WebCryptoKey } from './crypto/keys.ts'
export { generateDpopKeyPair } from './crypto/keys.ts'
export type { Diagnosis } from './errors/diagnosis.ts'
export type { Finding } from './errors/finding.ts'
export * from './errors/index.ts'
export type { SessionInfo } from './flows/administer-sessions.ts'
export type {
  BackchannelAuthenticationOptions,
  BackchannelAuthenticationResult,
  BackchannelHint,
} from './flows/backchannel-auth.ts'
export type { CheckFinding, CheckResult } from './flows/check.ts'
export type { ConnectAccountOptions, DeleteConnectedAccountOptions } from './flows/connected-accounts.ts'
export type { AccessTokenExchangeOptions, ExchangedAccessToken } from './flows/exchange-access-token.ts'
export type { CustomTokenExchangeOptions, CustomTokenExchangeResult } from './flows/exchange-token.ts'
export type { Fetcher } from './flows/fetcher.ts'
export type { AccessToken } from './flows/get-access-token.ts'
export type {
  ConnectionAccessToken,
  GetAccessTokenForConnectionOptions,
} from './flows/get-connection-token.ts'
export type { PublicJwks } from './flows/jwks.ts'
export type { MfaVerification, MfaVerifiedTokens } from './flows/mfa.ts'
export type { RefreshTokensOptions, RefreshTokensResult } from './flows/refresh-tokens.ts'
export type { AcceptEntry, AcceptedAuth, AcceptedScope } from './guards/accepted-auth.ts'
export type { AccessTokenClaims, Auth, SessionAuth, TokenAuth } from './guards/auth.ts'
export type { ApiGuardResult, AuthResult, GuardResult, ResultFor } from './guards/guards.ts'
export type { HostPageGuardOptions } from './guards/host-guards.ts'
export type {
  AnyApiGuardOptions,
  ApiGuardOptions,
  EitherGuardOptions,
  GuardRequirements,
  ResourceGuardOptions,
} from './guards/requirements.ts'
export type { McpAuthInfo, Resource } from './guards/resource.ts'
export type { HostClient } from './host-client.ts'
export type { SameSite } from './http/cookie-jar.ts'
export type { Clock } from './lib/clock.ts'
export type { FetchFunction } from './lib/fetch-function.ts'
export type { FormerRefusal, LogEvent, LogEventDetails, Logger, LogLevel } from './log/log.ts'
export type { MfaMethod, ServerMfaClient } from './mfa-client.ts'
export type { CheckedClaims } from './oidc/access-token-claims.ts'
export type { IdpClientBase, NoOptions } from './operations.ts'
export type { ProxyMethod, ProxyOptions } from './proxy/options.ts'
export type { ApiProxy } from './proxy/proxy.ts'
export type { StartInteractiveLoginOptions } from './routes/start-login.ts'
export type { AuthenticationClaims } from './session/model/authentication.ts'
export { DEFAULT_ID_TOKEN_CLAIMS, filterDefaultIdTokenClaims } from './session/model/claims.ts'
export type {
  AccessTokenSet,
  AuthorizationDetail,
  ConnectionTokenSet,
  InternalSessionData,
  SessionData,
  StoredInternalData,
  TokenSet,
  User,
} from './session/model/session-data.ts'
export type { SessionAdministration } from './session-administration.ts'
