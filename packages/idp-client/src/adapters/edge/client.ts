import type { IdpClientOptions } from '../../config/options.ts'
import { createApplication } from '../../engine.ts'
import type { FeatureModules, FeatureName, Features } from '../../features.ts'
import { WebClient } from '../web/web-client.ts'
import { missingFeature, missingFeatures } from './missing-features.ts'

/** Options of the client of `idp-client/edge`. */
export interface EdgeClientOptions extends IdpClientOptions {
  /**
   * The features that the application uses, imported from `idp-client/edge`. A bundler leaves out the code of all
   * others. Default: none. An operation whose feature is missing throws `InvalidConfigurationError`; so does the
   * constructor for an option whose feature is missing.
   *
   * @example
   * new IdpClient({ features: { dpop, fetcher } })
   */
  features?: Features
}

/** Options without which a client would send unbound tokens or store sessions elsewhere: each needs its feature. */
const featureOptions = [
  ['useDPoP', 'dpop'],
  ['dpopKeyPair', 'dpop'],
  ['sessionStore', 'sessionStore'],
  ['enableConnectAccountEndpoint', 'connectedAccounts'],
] as const satisfies readonly (readonly [keyof IdpClientOptions, FeatureName])[]

/** Returns the modules of all features. Throws `InvalidConfigurationError` for an option whose feature is missing. */
function toModules(features: Features, options: IdpClientOptions): FeatureModules {
  for (const [option, feature] of featureOptions)
    if (options[option] && !features[feature])
      throw missingFeature(feature, `The option ${option}`, { atConstruction: true })
  return {
    backchannelAuthentication:
      features.backchannelAuthentication?.modules ?? missingFeatures.backchannelAuthentication,
    connectedAccounts: features.connectedAccounts?.modules ?? missingFeatures.connectedAccounts,
    dpop: features.dpop?.modules ?? missingFeatures.dpop,
    fetcher: features.fetcher?.modules ?? missingFeatures.fetcher,
    mfa: features.mfa?.modules ?? missingFeatures.mfa,
    privateKeyJwt: features.privateKeyJwt?.modules ?? missingFeatures.privateKeyJwt,
    sessionStore: features.sessionStore?.modules ?? missingFeatures.sessionStore,
    tokenExchange: features.tokenExchange?.modules ?? missingFeatures.tokenExchange,
  }
}

/**
 * The client of `idp-client` for platforms that limit the size of a bundle: the same operations on Web `Request` and
 * `Response`, but rarely used features are passed in. Logins, sessions, guards and access tokens need no feature.
 */
export class IdpClient extends WebClient {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ features = {}, ...options }: EdgeClientOptions = {}) {
    super(createApplication(options, { features: toModules(features, options) }))
  }
}
