/** All requests to the token endpoint, and revocation; loaded as one module. */
export { type CodeExchange, exchangeCode } from './code-exchange.ts'
export { type ConnectionRequest, connectionToken } from './connection-token.ts'
export type { IdTokenClaims } from './id-token.ts'
export { type RefreshRequest, refreshTokens } from './refresh.ts'
export { revokeToken } from './revoke.ts'
export type { TokenGrant } from './token-grant.ts'
