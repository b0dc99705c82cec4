/** What completing a login needs of the token endpoint. */
export { exchangeCode } from './code-exchange.ts'
export type { TokenGrant } from './token-grant.ts'
