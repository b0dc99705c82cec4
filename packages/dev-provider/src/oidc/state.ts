import type { Provider } from 'oidc-provider'
import type { ApiDirectory } from '../apis.ts'
import type { ClientRegistry } from '../clients.ts'
import type { ClockScope } from '../clock.ts'
import type { ConnectRequests } from '../extensions/accounts/requests.ts'
import type { AccountVault } from '../extensions/accounts/vault.ts'
import type { CibaRequests } from '../extensions/ciba.ts'
import type { LogoutNotice } from '../extensions/logout-notices.ts'
import type { MfaState } from '../extensions/mfa/state.ts'
import type { KeyRing } from '../keys.ts'
import type { DevProviderSettings } from '../options.ts'
import type { Store } from '../store.ts'
import type { Organization, UserDirectory } from '../users.ts'
import type { IssuedToken } from './issued.ts'
import type { OidcModule } from './load.ts'

/** Requested properties of an authorization that oidc-provider does not store. */
export interface AuthorizationFacts {
  /** The requested scopes, which are fewer than those that the refresh token may be used for. */
  readonly scope: ReadonlySet<string>
  readonly audience: string | undefined
  readonly organization: Organization | undefined
  /** `act` claim of tokens that came from a token exchange with an actor (RFC 8693, section 4.1). */
  readonly actor?: { readonly sub: string } | undefined
}

/** Everything that one provider is made of. One object per provider, so that nothing is shared. */
export interface ProviderState {
  readonly issuer: string
  /** Path part of the issuer, without a slash at its end; empty for most. */
  readonly mountPath: string
  readonly secure: boolean
  /** Origin of the listener that asks for certificates, if there is one. */
  readonly certificateOrigin: string | undefined
  readonly settings: DevProviderSettings
  readonly endSession: boolean
  readonly connections: ReadonlySet<string>
  readonly authorizationDetailsTypes: readonly string[]
  readonly cookieKeys: readonly string[]
  readonly nonceSecret: Buffer
  readonly oidc: OidcModule
  readonly users: UserDirectory
  readonly clients: ClientRegistry
  readonly apis: ApiDirectory
  readonly keys: KeyRing
  readonly clock: ClockScope
  readonly store: Store
  /** By grant id. */
  readonly facts: Map<string, AuthorizationFacts>
  /** The id of the grant, if there is one, by the `jti` of a JWT access token. */
  readonly accessTokenGrants: Map<string, string | undefined>
  readonly ciba: CibaRequests
  readonly accounts: AccountVault
  readonly connectRequests: ConnectRequests
  readonly mfa: MfaState
  /** The newest first. */
  readonly issued: IssuedToken[]
  readonly logoutNotices: LogoutNotice[]
  readonly log: (line: string) => void
  readonly acceptSubjectToken: (token: string, type: string) => string | undefined
  /** The current oidc-provider. */
  readonly engine: Provider
  /** Replaces the engine by one that knows new keys and new claim names; what was issued stays. */
  rebuild(): Promise<void>
}

/** Short-lived names of the provider's cookies; the port keeps two providers on one host apart. */
export function cookieNames(issuer: string): { session: string; interaction: string; resume: string } {
  const port = new URL(issuer).port || 'default'
  return {
    session: `dev_idp_session_${port}`,
    interaction: `dev_idp_interaction_${port}`,
    resume: `dev_idp_resume_${port}`,
  }
}
