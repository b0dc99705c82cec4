import type { KoaContextWithOIDC } from 'oidc-provider'
import type { ProviderState } from '../oidc/state.ts'

/** The claim of IPSIE that says when the session of the application has to end. */
export const SESSION_EXPIRY = 'session_expiry'

/** When the user authenticated for the token request, in seconds since the epoch. */
function authTimeOf(ctx: KoaContextWithOIDC): number | undefined {
  const { AuthorizationCode: code, RefreshToken: token } = ctx.oidc.entities
  return code?.authTime ?? token?.authTime
}

/** The claim as the settings want it: a number counts from the authentication, any other text is sent as it is. */
export function toExpiryClaim(
  { clock, settings }: ProviderState,
  ctx: KoaContextWithOIDC,
  authTime: number | undefined = authTimeOf(ctx),
): Record<string, unknown> {
  const { sessionExpiry } = settings
  if (sessionExpiry === false) return {}
  const value = typeof sessionExpiry === 'number' ? (authTime ?? clock.now()) + sessionExpiry : sessionExpiry
  return { [SESSION_EXPIRY]: value }
}
