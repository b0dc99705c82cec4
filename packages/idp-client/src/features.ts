/** Names of the features that `idp-client/edge` leaves out unless they are passed to the constructor. */
export type FeatureName =
  | 'backchannelAuthentication'
  | 'connectedAccounts'
  | 'dpop'
  | 'fetcher'
  | 'mfa'
  | 'privateKeyJwt'
  | 'sessionStore'
  | 'tokenExchange'

/** Loads a module on first use. */
type Load<Module> = () => Promise<Module>

/** The modules of each feature. Modules of a feature that the application left out reject. */
export interface FeatureModules {
  readonly backchannelAuthentication: {
    readonly flow: Load<typeof import('./flows/backchannel-auth.ts')>
  }
  readonly connectedAccounts: {
    readonly completion: Load<typeof import('./callback/complete-connection.ts')>
    readonly connect: Load<typeof import('./flows/connect-account.ts')>
    readonly accounts: Load<typeof import('./flows/connected-accounts.ts')>
    readonly route: Load<typeof import('./routes/connect-account.ts')>
    readonly token: Load<typeof import('./flows/get-connection-token.ts')>
  }
  readonly dpop: {
    readonly proofs: Load<typeof import('./oidc/dpop.ts')>
    readonly resolveKeys: typeof import('./config/dpop-keys.ts')['resolveDpopKeys']
  }
  readonly fetcher: { readonly flow: Load<typeof import('./flows/fetcher.ts')> }
  readonly mfa: {
    readonly factors: Load<typeof import('./flows/mfa.ts')>
    readonly routes: Load<typeof import('./routes/mfa.ts')>
    readonly verification: Load<typeof import('./flows/mfa-verify.ts')>
  }
  readonly privateKeyJwt: {
    readonly assertions: Load<typeof import('./oidc/client-assertion.ts')>
    readonly resolveAssertion: typeof import('./config/client-assertion.ts')['resolveAssertion']
  }
  readonly sessionStore: {
    readonly administration: Load<typeof import('./flows/administer-sessions.ts')>
    readonly endedSessions: Load<typeof import('./session/store/ended-at-provider.ts')>
    readonly logoutRoute: Load<typeof import('./routes/backchannel-logout.ts')>
    readonly storage: Load<typeof import('./session/store/in-store.ts')>
  }
  readonly tokenExchange: { readonly flow: Load<typeof import('./flows/exchange-token.ts')> }
}

/** A rarely used part of the library, which a bundler leaves out where it is not imported. */
export interface Feature<Name extends FeatureName = FeatureName> {
  readonly name: Name
  /** @internal */
  readonly modules: FeatureModules[Name]
}

/** The features of a client of `idp-client/edge`, each under its own name. */
export type Features = { readonly [Name in FeatureName]?: Feature<Name> }
