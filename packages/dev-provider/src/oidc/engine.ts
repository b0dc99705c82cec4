import type { Account, Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { OIDC_SCOPES } from '../apis.ts'
import { fanOutClient } from '../clients.ts'
import { applyProfile } from '../extensions/access-token-profile.ts'
import { accountAudience } from '../extensions/accounts/access.ts'
import { withDetailsTypes } from '../extensions/authorization-details.ts'
import { assertAssertion } from '../extensions/client-authentication.ts'
import { applyBinding, certificateMetadata } from '../extensions/client-certificates.ts'
import { registerFederatedConnection } from '../extensions/federated-connection.ts'
import { noteAccessToken } from '../extensions/jwt-introspection.ts'
import { forwardedLogoutToken, postLogoutToken } from '../extensions/logout-notices.ts'
import { addDemandMembers, assertTokenRequestMfa } from '../extensions/mfa/demand.ts'
import { registerMfaGrants } from '../extensions/mfa/grants.ts'
import { MULTI_FACTOR_ACRS } from '../extensions/mfa/login.ts'
import { bringsRefreshToken } from '../extensions/offline-access.ts'
import { SESSION_EXPIRY, toExpiryClaim } from '../extensions/session-expiry.ts'
import { registerTokenExchange } from '../extensions/token-exchange.ts'
import { isLoopbackUrl } from '../loopback.ts'
import { noticePage } from '../pages/notices.ts'
import { SCOPE_CLAIMS } from '../users.ts'
import { DEV_PATH, INTERACTION_PATH, PATHS } from '../wire/endpoints.ts'
import {
  createGrant,
  EXTRA_PARAMETERS,
  findGrantFacts,
  REQUESTED_SCOPE,
  responseScope,
  widenScope,
} from './authorization.ts'
import { recordFailures, toFailure } from './failures.ts'
import { createFeatures } from './features.ts'
import { createPolicy } from './interaction-policy.ts'
import { recordIssued } from './issued.ts'
import { lifetimes } from './lifetimes.ts'
import { withoutNotices } from './load.ts'
import type { ProviderState } from './state.ts'
import { cookieNames } from './state.ts'
import { toFactClaims } from './tokens.ts'

/** Builds the protocol engine for the state's current keys; everything issued lives in the state's store. */
export async function createEngine(state: ProviderState): Promise<Provider> {
  const engine = await withoutNotices(() => new state.oidc.Provider(state.issuer, createConfiguration(state)))
  registerTokenExchange(state, engine)
  registerFederatedConnection(state, engine)
  registerMfaGrants(state, engine)
  allowLoopbackRedirects(state, engine)
  engine.on('grant.success', (ctx) => {
    const body: unknown = ctx.body
    if (isTokenResponse(body)) body.scope = responseScope(state, ctx, body.scope)
    recordIssued(state, ctx)
  })
  engine.on('grant.error', addDemandMembers)
  recordFailures(state, engine)
  engine.on('server_error', (_ctx, error) => state.log(`server error: ${error.stack ?? error.message}`))
  return engine
}

function isTokenResponse(body: unknown): body is { scope?: string } {
  return typeof body === 'object' && body !== null && 'access_token' in body && !('issued_token_type' in body)
}

// The documented way to widen redirect checks is to replace these methods of the instance's own class.
function allowLoopbackRedirects(state: ProviderState, engine: Provider): void {
  const { prototype } = engine.Client
  const { redirectUriAllowed, postLogoutRedirectUriAllowed } = prototype
  const onLoopback = (uri: string): boolean => state.settings.allowLoopbackRedirects && isLoopbackUrl(uri)
  prototype.redirectUriAllowed = function (uri) {
    return onLoopback(uri) || redirectUriAllowed.call(this, uri)
  }
  prototype.postLogoutRedirectUriAllowed = function (uri) {
    return onLoopback(uri) || postLogoutRedirectUriAllowed.call(this, uri)
  }
}

function createConfiguration(state: ProviderState): Configuration {
  return {
    adapter: (model) =>
      model === 'Client'
        ? {
            ...state.store.adapter(model),
            find: async (id) => withDetailsTypes(state, state.clients.metadata(id)),
          }
        : state.store.adapter(model),
    jwks: state.keys.privateJwks(),
    routes: routes(),
    discovery: {
      mfa_challenge_endpoint: state.issuer + PATHS['mfa-challenge'],
      ...certificateMetadata(state),
    },
    scopes: [...OIDC_SCOPES],
    // Any value is accepted; without one here oidc-provider would not put `acr` into ID tokens.
    acrValues: [...MULTI_FACTOR_ACRS],
    claims: {
      acr: null,
      amr: null,
      auth_time: null,
      iss: null,
      sid: null,
      openid: ['sub', 'org_id', 'org_name', 'act', SESSION_EXPIRY, ...state.users.customClaims()],
      ...SCOPE_CLAIMS,
    },
    // Profile and e-mail claims belong into the ID token, as hosted providers have it.
    conformIdTokenClaims: false,
    clientAuthMethods: [
      ...(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const),
      ...(state.certificateOrigin === undefined
        ? []
        : (['tls_client_auth', 'self_signed_tls_client_auth'] as const)),
    ],
    assertJwtClientAuthClaimsAndHeader: async (_ctx, { aud }, header) =>
      assertAssertion(state, { aud, header }),
    responseTypes: ['code'],
    pkce: { required: (_ctx, client) => client.tokenEndpointAuthMethod === 'none' },
    extraParams: {
      ...Object.fromEntries(EXTRA_PARAMETERS.map((name) => [name, null])),
      [REQUESTED_SCOPE]: (ctx) => widenScope(state, ctx),
    },
    issueRefreshToken: (_ctx, client, source) =>
      client.grantTypeAllowed('refresh_token') && bringsRefreshToken(state, source.scopes),
    rotateRefreshToken: () => state.settings.rotateRefreshTokens,
    // Tokens and codes outlive the browser session: tabs that log in at once must not undo one another.
    expiresWithSession: () => false,
    clientBasedCORS: () => true,
    findAccount: (ctx, sub, source) => {
      assertTokenRequestMfa(state, ctx, source)
      return toAccount(state, ctx, sub)
    },
    loadExistingGrant: (ctx) => createGrant(state, ctx),
    renderError: (ctx, _out, error) => {
      ctx.type = 'html'
      ctx.body = noticePage({
        title: 'The request was refused',
        overview: state.mountPath + DEV_PATH,
        ...toFailure(state, ctx, error),
      })
    },
    fetch: (input, init) => forward(state, input, init),
    ...cookiesAndInteractions(state),
    ...lifetimes(state),
    ...tokenFormats(state),
    features: createFeatures(state),
  }
}

function routes(): NonNullable<Configuration['routes']> {
  return {
    authorization: PATHS.authorize,
    backchannel_authentication: PATHS.backchannelAuthentication,
    end_session: PATHS.endSession,
    introspection: PATHS.introspection,
    jwks: PATHS.jwks,
    pushed_authorization_request: PATHS.par,
    revocation: PATHS.revocation,
    token: PATHS.token,
    userinfo: PATHS.userinfo,
  }
}

function cookiesAndInteractions(state: ProviderState): Pick<Configuration, 'cookies' | 'interactions'> {
  // Silent login in a frame of another site needs SameSite=None, which browsers accept only with Secure.
  const long = state.secure ? ({ sameSite: 'none', secure: true } as const) : ({ sameSite: 'lax' } as const)
  return {
    cookies: {
      names: cookieNames(state.issuer),
      keys: [...state.cookieKeys],
      long: { ...long, httpOnly: true, signed: true, path: '/' },
      short: { ...long, httpOnly: true, signed: true },
    },
    interactions: {
      policy: createPolicy(state),
      url: (_ctx, interaction) => `${state.mountPath}${INTERACTION_PATH}/${interaction.uid}`,
    },
  }
}

function tokenFormats(state: ProviderState): Pick<Configuration, 'formats' | 'extraTokenClaims'> {
  return {
    extraTokenClaims: (ctx) => (ctx ? toFactClaims(findGrantFacts(state, ctx)) : {}),
    formats: {
      customizers: {
        jwt: (ctx, token, jwt) => {
          if (!jwt.payload || !ctx) return
          applyBinding(state, jwt.payload)
          noteAccessToken(state, jwt.payload, 'grantId' in token ? token.grantId : undefined)
          jwt.payload['scope'] = responseScope(state, ctx, jwt.payload['scope'])
          // The account API is this provider's own.
          if (jwt.payload['aud'] !== accountAudience(state.issuer))
            applyProfile(jwt, state.settings.accessTokenProfile)
        },
      },
    },
  }
}

function toAccount(state: ProviderState, ctx: KoaContextWithOIDC, sub: string): Account | undefined {
  const user = state.users.bySub(sub)
  return (
    user && {
      accountId: user.sub,
      claims: (use) => ({
        ...user.claims,
        ...toFactClaims(findGrantFacts(state, ctx)),
        ...(use === 'id_token' ? toExpiryClaim(state, ctx) : {}),
        sub: user.sub,
      }),
    }
  )
}

/**
 * Outgoing calls of oidc-provider. Its own guard refuses loopback addresses, which is where every application
 * of this provider lives, so the guarding dispatcher is dropped.
 */
async function forward(
  state: ProviderState,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const url = input instanceof Request ? input.url : String(input)
  const clientId = fanOutClient(url)
  if (clientId !== undefined) {
    const token = new URLSearchParams(String(init.body)).get('logout_token') ?? ''
    await postLogoutToken(state, clientId, await forwardedLogoutToken(state, clientId, token))
    return new Response(null, { status: 200 })
  }
  const { dispatcher: _guard, ...rest } = { dispatcher: undefined, ...init }
  return fetch(input, rest)
}
