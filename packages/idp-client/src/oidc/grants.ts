/** The code exchange of a login. */
export { exchangeCode } from './code-exchange.ts'
export type { TokenGrant } from './token-grant.ts'
