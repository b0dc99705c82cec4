/** Everything that the token endpoint is asked for, and the revocation of what it gave. */
export { type CodeExchange, exchangeCode } from './code-exchange.ts'
export { type ConnectionRequest, connectionToken } from './connection-token.ts'
export type { IdTokenClaims } from './id-token.ts'
export { type RefreshRequest, refreshTokens } from './refresh.ts'
export { revokeToken } from './revoke.ts'
export type { TokenGrant } from './token-grant.ts'
