'use client'

export type { User } from '../session/session-data.ts'
export { IdpProvider, type IdpProviderProps } from './provider.tsx'
export type { BrowserRoutes } from './routes.ts'
export { type UserResult, type UseUserOptions, useUser } from './use-user.ts'
export {
  type PageAuthOptions,
  type PageWithUser,
  withPageAuthRequired,
} from './with-page-auth-required.tsx'
