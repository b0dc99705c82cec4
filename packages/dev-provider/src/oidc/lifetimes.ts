import type { Configuration } from 'oidc-provider'
import type { ProviderState } from './state.ts'

const YEAR = 365 * 86_400

/** Seconds for which things live; the settings are read whenever something is issued. */
export function lifetimes(state: ProviderState): Pick<Configuration, 'ttl'> {
  const { settings } = state
  return {
    ttl: {
      AccessToken: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? settings.accessTokenTtl,
      AuthorizationCode: () => settings.codeTtl,
      BackchannelAuthenticationRequest: (ctx) => {
        const asked = Number(ctx?.oidc.params?.['requested_expiry'])
        return Number.isSafeInteger(asked) && asked > 0 ? Math.min(asked, 600) : 300
      },
      ClientCredentials: (_ctx, token) => token.resourceServer?.accessTokenTTL ?? settings.accessTokenTtl,
      // A grant that expired before its refresh tokens would end them early.
      Grant: () => YEAR,
      IdToken: () => settings.idTokenTtl,
      Interaction: () => 3600,
      RefreshToken: () => settings.refreshTokenTtl,
      Session: () => settings.sessionTtl,
    },
  }
}
