export { IdpError, type IdpErrorOptions, isIdpError } from './base.ts'
export * from './callback.ts'
export { type Code, type CodesByClass, type CodesOf, codesByClass } from './code.ts'
export { type CodeEntry, codes } from './codes.ts'
export { InvalidConfigurationError } from './configuration.ts'
export * from './connected-accounts.ts'
export { LogoutTokenError, type LogoutTokenErrorCode } from './logout-token.ts'
export * from './mfa.ts'
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
export * from './tokens.ts'
