export { AccessTokenError, AccessTokenErrorCode } from './access-token.ts'
export {
  BackchannelAuthenticationError,
  BackchannelAuthenticationErrorCode,
} from './backchannel-authentication.ts'
export { IdpError, type IdpErrorOptions, isIdpError } from './base.ts'
export { CallbackError, type CallbackErrorCode } from './callback.ts'
export type { CodesOf } from './code-names.ts'
export { type Code, type CodeEntry, codes } from './codes.ts'
export { InvalidConfigurationError } from './configuration.ts'
export {
  AccountApiError,
  type AccountApiFailure,
  type AccountApiValidationError,
  ConnectAccountError,
  ConnectAccountErrorCode,
  ConnectedAccountsError,
  type ConnectedAccountsErrorCode,
} from './connected-accounts.ts'
export { AccessTokenForConnectionError, AccessTokenForConnectionErrorCode } from './connection-token.ts'
export { LogoutTokenError, type LogoutTokenErrorCode } from './logout-token.ts'
export {
  MfaError,
  type MfaErrorCode,
  type MfaRequiredBody,
  MfaRequiredError,
  type MfaRequirements,
} from './mfa.ts'
export { DiscoveryError, OAuthError, type OAuthErrorOptions } from './provider.ts'
export { SessionStoreError, SessionStoreErrorCode, type SessionTooLarge } from './session.ts'
export { CustomTokenExchangeError, CustomTokenExchangeErrorCode } from './token-exchange.ts'
