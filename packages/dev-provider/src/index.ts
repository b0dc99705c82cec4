export type { Api } from './apis.ts'
export type { VisitOptions, VisitResult } from './browser/browse.ts'
export { type CookieJar, createCookieJar } from './browser/cookie-jar.ts'
export type { Form } from './browser/forms.ts'
export type { LoginOptions, LoginResult } from './browser/login.ts'
export type { ClientCertificate, ClientCertificateOptions } from './certificates.ts'
export type { AppOptions, ClientOptions, RegisteredClient, TokenEndpointAuthMethod } from './clients.ts'
export type { VirtualClock } from './clock.ts'
export type { DevProvider, MutualTls } from './dev-provider.ts'
export { DevProviderError } from './error.ts'
export type { AccessTokenProfile } from './extensions/access-token-profile.ts'
export type { AccountOptions, Accounts } from './extensions/accounts/accounts.ts'
export type { ConnectedAccount } from './extensions/accounts/vault.ts'
export type { Ciba, PendingAuthentication } from './extensions/ciba.ts'
export type { CertificateBinding } from './extensions/client-certificates.ts'
export type { LogoutNotice, LogoutSubject } from './extensions/logout-notices.ts'
export type { Factor, FactorKind, MfaOptions, OobChannel } from './extensions/mfa/factors.ts'
export type { InboxMessage, Mfa } from './extensions/mfa/mfa.ts'
export type { OfflineAccess } from './extensions/offline-access.ts'
export type { SigningAlg, SigningKey, SignOptions } from './keys.ts'
export type { DevProviderOptions, DevProviderSettings } from './options.ts'
export { listUsers, startDevProvider } from './start.ts'
export type { RawHeader } from './upstream/bytes.ts'
export type { InwardPlace, OutwardPlace, RedirectPlace } from './upstream/redirects.ts'
export type { UpstreamRequest } from './upstream/requests.ts'
export type {
  FramedResponse,
  MessageResponse,
  OddHeader,
  StreamedResponse,
  UpstreamResponder,
  UpstreamResponse,
} from './upstream/responses.ts'
export type { RespondOptions } from './upstream/rules.ts'
export type { Upstream, UpstreamOptions } from './upstream/upstream.ts'
export { startUpstream } from './upstream/upstream.ts'
export type { Organization, User, UserOptions } from './users.ts'
export type { Endpoint } from './wire/endpoints.ts'
export type { Failure } from './wire/failure.ts'
export type { Fault, FaultOptions, Faults } from './wire/faults.ts'
export type { LoggedRequest } from './wire/request-log.ts'
export type {
  Forgery,
  JsonObject,
  JsonRewrite,
  ParameterChange,
  TextRewrite,
  TokenChange,
} from './wire/rewrites.ts'
