import { currentUrls } from './ask-route.ts'
import type { BrowserRoutes, Variable } from './routes.ts'
import { variable } from './routes.ts'

export type MfaRoute = 'mfaAuthenticators' | 'mfaChallenge' | 'mfaAssociate' | 'mfaVerify'

type VariableName =
  `${'NEXT' | 'FRAMEWORK'}_PUBLIC_MFA_${'AUTHENTICATORS' | 'CHALLENGE' | 'ASSOCIATE' | 'VERIFY'}_ROUTE`
declare const process: { readonly env: { readonly [Name in VariableName]?: string } }

const variables = {
  mfaAuthenticators: [
    () => process.env.NEXT_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
  ],
  mfaChallenge: [
    () => process.env.NEXT_PUBLIC_MFA_CHALLENGE_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE,
  ],
  mfaAssociate: [
    () => process.env.NEXT_PUBLIC_MFA_ASSOCIATE_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE,
  ],
  mfaVerify: [
    () => process.env.NEXT_PUBLIC_MFA_VERIFY_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE,
  ],
} satisfies { readonly [Route in MfaRoute]: Variable } & {
  readonly [Route in keyof BrowserRoutes]?: Variable
}

/** Returns the URL of an MFA route, resolved in the same order as the other routes. */
export function mfaUrl(route: MfaRoute): string {
  const { routes, locate } = currentUrls()
  const last = `/auth/mfa/${route.slice(3).toLowerCase()}`
  return locate(routes[route] ?? variable(variables[route], route) ?? last)
}
