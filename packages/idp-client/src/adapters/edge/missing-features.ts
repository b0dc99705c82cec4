import { InvalidConfigurationError } from '../../errors/configuration.ts'
import { LogoutTokenError } from '../../errors/logout-token.ts'
import type { FeatureModules, FeatureName } from '../../features.ts'
import { failWithJson } from '../../routes/fail-with-json.ts'
import type { RouteHandler } from '../../routes/route.ts'

/** Returns the sentence about a missing feature: what needs it, and the code to write. */
function toDetail(name: FeatureName, dependent: string): string {
  return `${dependent} needs the feature ${name}: import { ${name} } from 'idp-client/edge', and pass features: { ${name} } to the constructor.`
}

/** Creates the error for something that needs a missing feature. */
export function missingFeature(
  name: FeatureName,
  dependent: string,
  { atConstruction = false }: { readonly atConstruction?: boolean } = {},
): InvalidConfigurationError {
  const detail = toDetail(name, dependent)
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, atConstruction })
}

/** Returns a loader that rejects, so that nothing is sent or written. */
function rejecting(name: FeatureName, dependent: string): () => Promise<never> {
  return async () => {
    throw missingFeature(name, dependent)
  }
}

/** Returns a handler that rejects every request. */
function rejectingRoute(createError: () => Error): RouteHandler {
  return {
    async handle() {
      throw createError()
    },
    fail: failWithJson,
  }
}

const mfaRoute = rejectingRoute(() => missingFeature('mfa', 'A route of multi-factor authentication'))

/** The modules of a client without any feature. */
export const missingFeatures: FeatureModules = {
  backchannelAuthentication: { flow: rejecting('backchannelAuthentication', 'getTokenByBackchannelAuth') },
  connectedAccounts: {
    completion: rejecting('connectedAccounts', 'The callback of a connected account'),
    connect: rejecting('connectedAccounts', 'connectAccount'),
    accounts: rejecting('connectedAccounts', 'The operation on connected accounts'),
    route: async () => ({
      connectAccount: rejectingRoute(() => missingFeature('connectedAccounts', 'The route connectAccount')),
    }),
    token: rejecting('connectedAccounts', 'getAccessTokenForConnection'),
  },
  dpop: { proofs: rejecting('dpop', 'useDPoP'), resolveKeys: () => ({ kind: 'none' }) },
  fetcher: { flow: rejecting('fetcher', 'createFetcher') },
  mfa: {
    factors: rejecting('mfa', 'The property mfa'),
    routes: async () => ({
      mfaRoutes: {
        mfaAssociate: mfaRoute,
        mfaAuthenticators: mfaRoute,
        mfaChallenge: mfaRoute,
        mfaVerify: mfaRoute,
      },
    }),
    verification: rejecting('mfa', 'mfa.verify'),
  },
  privateKeyJwt: {
    assertions: rejecting('privateKeyJwt', 'The option clientAssertionSigningKey'),
    resolveAssertion(options, env, addIssue) {
      if (options.clientAssertionSigningKey)
        addIssue('wrong-option', toDetail('privateKeyJwt', 'The option clientAssertionSigningKey'))
      else if (env.IDP_CLIENT_ASSERTION_SIGNING_KEY)
        addIssue('wrong-variable', toDetail('privateKeyJwt', 'IDP_CLIENT_ASSERTION_SIGNING_KEY'))
      return undefined
    },
  },
  sessionStore: {
    administration: rejecting('sessionStore', 'The property sessions'),
    endedSessions: rejecting('sessionStore', 'The option sessionStore'),
    // As without a session store: sessions in cookies cannot be ended by the provider.
    logoutRoute: async () => ({
      backchannelLogout: rejectingRoute(() => new LogoutTokenError('BACKCHANNEL_LOGOUT_NOT_SUPPORTED')),
    }),
    storage: rejecting('sessionStore', 'The option sessionStore'),
  },
  tokenExchange: { flow: rejecting('tokenExchange', 'customTokenExchange') },
}
