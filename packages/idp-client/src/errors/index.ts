export { AccessTokenError, AccessTokenErrorCode } from './access-token.ts'
export {
  BackchannelAuthenticationError,
  BackchannelAuthenticationErrorCode,
} from './backchannel-authentication.ts'
export { IdpError, type IdpErrorOptions, isIdpError } from './base.ts'
export { CallbackError, type CallbackErrorCode } from './callback.ts'
export { type Code, type CodeEntry, codes } from './codes.ts'
export { InvalidConfigurationError } from './configuration.ts'
export { AccessTokenForConnectionError, AccessTokenForConnectionErrorCode } from './connection-token.ts'
export { DiscoveryError, OAuthError, type OAuthErrorOptions } from './provider.ts'
export { SessionStoreError, type SessionTooLarge } from './session.ts'
export { CustomTokenExchangeError, CustomTokenExchangeErrorCode } from './token-exchange.ts'
