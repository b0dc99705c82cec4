import type { FeatureModules } from './features.ts'
import {
  backchannelAuthentication,
  connectedAccounts,
  dpop,
  fetcher,
  mfa,
  privateKeyJwt,
  sessionStore,
  tokenExchange,
} from './rare-features.ts'

/** Every feature: the entries of all hosts but `idp-client/edge` have them. */
export const allFeatures: FeatureModules = {
  backchannelAuthentication: backchannelAuthentication.modules,
  connectedAccounts: connectedAccounts.modules,
  dpop: dpop.modules,
  fetcher: fetcher.modules,
  mfa: mfa.modules,
  privateKeyJwt: privateKeyJwt.modules,
  sessionStore: sessionStore.modules,
  tokenExchange: tokenExchange.modules,
}
