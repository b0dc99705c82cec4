export { AccessTokenError, AccessTokenErrorCode } from './access-token.ts'
export {
  BackchannelAuthenticationError,
  BackchannelAuthenticationErrorCode,
} from './backchannel-authentication.ts'
export { IdpError, type IdpErrorOptions, isIdpError } from './base.ts'
export {
  CallbackError,
  type CallbackErrorCode,
  type CallbackErrorOptions,
  type HookName,
} from './callback.ts'
export { type Code, type CodesByClass, type CodesOf, codesByClass } from './code.ts'
export { type CodeEntry, codes } from './codes.ts'
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
export {
  DiscoveryError,
  type DiscoveryErrorOptions,
  OAuthError,
  type OAuthErrorOptions,
  type ProviderEndpoint,
} from './provider.ts'
export type { Remedy } from './remedy.ts'
export {
  SessionStoreError,
  SessionStoreErrorCode,
  type SessionTooLarge,
  type StoreFailure,
  type StoreOperation,
} from './session.ts'
export { CustomTokenExchangeError, CustomTokenExchangeErrorCode } from './token-exchange.ts'
