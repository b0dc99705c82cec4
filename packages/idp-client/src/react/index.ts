'use client'

export { fetchApi } from '../browser/fetch-api.ts'
export { type AccessTokenOptions, getAccessToken } from '../browser/get-access-token.ts'
export { type BrowserMfa, type ChallengeWithPopupOptions, mfa } from '../browser/mfa.ts'
export type { PageOptions } from '../browser/page.ts'
export type {
  AccessTokenRequestError,
  BrowserMfaRequiredError,
  RouteRequestError,
} from '../browser/request-error.ts'
export type { BrowserRoutes } from '../browser/routes.ts'
export type { AccessTokenResponse } from '../browser/token-cache.ts'
export type * from '../config/mfa.ts'
export type { User } from '../session/model/session-data.ts'
export { IdpProvider, type IdpProviderProps } from './provider.tsx'
export { type UserResult, type UseUserOptions, useUser } from './use-user.ts'
export {
  type PageAuthOptions,
  type PageWithUser,
  withPageAuthRequired,
} from './with-page-auth-required.tsx'
