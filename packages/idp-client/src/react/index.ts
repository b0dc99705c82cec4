'use client'

export type { User } from '../session/session-data.ts'
export type { AccessTokenRequestError } from './access-token-error.ts'
export { type AccessTokenOptions, getAccessToken } from './get-access-token.ts'
export { IdpProvider, type IdpProviderProps } from './provider.tsx'
export type { BrowserRoutes } from './routes.ts'
export type { AccessTokenResponse } from './token-cache.ts'
export { type UserResult, type UseUserOptions, useUser } from './use-user.ts'
export {
  type PageAuthOptions,
  type PageWithUser,
  withPageAuthRequired,
} from './with-page-auth-required.tsx'
