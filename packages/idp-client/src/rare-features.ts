import { resolveAssertion } from './config/client-assertion.ts'
import { resolveDpopKeys } from './config/dpop-keys.ts'
import type { Feature } from './features.ts'

/** `getTokenByBackchannelAuth` (CIBA). */
export const backchannelAuthentication: Feature<'backchannelAuthentication'> = {
  name: 'backchannelAuthentication',
  modules: { flow: () => import('./flows/backchannel-auth.ts') },
}

/**
 * `connectAccount`, its route and callback, `getAccessTokenForConnection`, `listConnectedAccounts` and
 * `deleteConnectedAccount`.
 */
export const connectedAccounts: Feature<'connectedAccounts'> = {
  name: 'connectedAccounts',
  modules: {
    completion: () => import('./callback/complete-connection.ts'),
    connect: () => import('./flows/connect-account.ts'),
    accounts: () => import('./flows/connected-accounts.ts'),
    route: () => import('./routes/connect-account.ts'),
    token: () => import('./flows/get-connection-token.ts'),
  },
}

/** Access tokens that are bound to a key (DPoP, RFC 9449): `useDPoP` of the client or of a fetcher. */
export const dpop: Feature<'dpop'> = {
  name: 'dpop',
  modules: { proofs: () => import('./oidc/dpop.ts'), resolveKeys: resolveDpopKeys },
}

/** `createFetcher`. */
export const fetcher: Feature<'fetcher'> = {
  name: 'fetcher',
  modules: { flow: () => import('./flows/fetcher.ts') },
}

/** `mfa`, and its routes for the browser. */
export const mfa: Feature<'mfa'> = {
  name: 'mfa',
  modules: {
    factors: () => import('./flows/mfa.ts'),
    routes: () => import('./routes/mfa.ts'),
    verification: () => import('./flows/mfa-verify.ts'),
  },
}

/** Client authentication by a signed assertion (RFC 7523): `clientAssertionSigningKey`. */
export const privateKeyJwt: Feature<'privateKeyJwt'> = {
  name: 'privateKeyJwt',
  modules: { assertions: () => import('./oidc/client-assertion.ts'), resolveAssertion },
}

/** The option `sessionStore`, the administration of its sessions (`sessions`), and back-channel logout. */
export const sessionStore: Feature<'sessionStore'> = {
  name: 'sessionStore',
  modules: {
    administration: () => import('./flows/administer-sessions.ts'),
    endedSessions: () => import('./session/store/ended-at-provider.ts'),
    logoutRoute: () => import('./routes/backchannel-logout.ts'),
    storage: () => import('./session/store/in-store.ts'),
  },
}

/** `customTokenExchange` (RFC 8693). */
export const tokenExchange: Feature<'tokenExchange'> = {
  name: 'tokenExchange',
  modules: { flow: () => import('./flows/exchange-token.ts') },
}
