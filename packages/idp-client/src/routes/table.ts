import type { RouteKey } from '../config/config.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import { accessToken } from './access-token.ts'
import type { MfaRouteKey } from './mfa.ts'
import { profile } from './profile.ts'
import type { Route } from './route.ts'

function mfaRoute(method: 'GET' | 'POST', key: MfaRouteKey): Route {
  return {
    methods: [method],
    acts: 'not-cross-site',
    load: lazyPromise(async () => (await import('./mfa.ts')).mfaRoutes[key]),
  }
}

/** Every mounted route, in matching order. A new route is a row here and a file beside it. */
export const table: Readonly<Record<RouteKey, Route>> = {
  login: {
    methods: ['GET'],
    acts: 'on-navigation',
    load: lazyPromise(async () => (await import('./login.ts')).login),
  },
  logout: {
    methods: ['GET'],
    acts: 'on-navigation',
    load: lazyPromise(async () => (await import('./logout.ts')).logout),
  },
  callback: {
    methods: ['GET', 'POST'],
    acts: 'not-on-prefetch',
    load: lazyPromise(async () => (await import('./callback.ts')).callback),
  },
  profile: { methods: ['GET'], acts: 'on-any-request', load: lazyPromise(async () => profile) },
  accessToken: { methods: ['GET'], acts: 'not-cross-site', load: lazyPromise(async () => accessToken) },
  backChannelLogout: {
    methods: ['POST'],
    acts: 'on-any-request',
    load: lazyPromise(async () => (await import('./backchannel-logout.ts')).backchannelLogout),
  },
  frontChannelLogout: {
    methods: ['GET'],
    acts: 'in-iframe',
    load: lazyPromise(async () => (await import('./frontchannel-logout.ts')).frontchannelLogout),
  },
  jwks: {
    methods: ['GET'],
    acts: 'on-any-request',
    isPublic: true,
    load: lazyPromise(async () => (await import('./jwks.ts')).jwks),
  },
  // Reject cross-site starts: another site could otherwise choose which account gets linked, and when (CSRF).
  connectAccount: {
    methods: ['GET'],
    acts: 'on-own-navigation',
    load: lazyPromise(async () => (await import('./connect-account.ts')).connectAccount),
  },
  mfaAuthenticators: mfaRoute('GET', 'mfaAuthenticators'),
  mfaChallenge: mfaRoute('POST', 'mfaChallenge'),
  mfaAssociate: mfaRoute('POST', 'mfaAssociate'),
  mfaVerify: mfaRoute('POST', 'mfaVerify'),
}

export const routeKeys: readonly RouteKey[] = Object.keys(table) as RouteKey[]
