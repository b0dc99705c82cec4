import { decodeJwt } from 'jose'
import type { KoaContextWithOIDC } from 'oidc-provider'
import { describeUnknownAudience, OIDC_SCOPES } from '../apis.ts'
import { markVerified, STEP_UP_CLAIMS } from '../extensions/mfa/state.ts'
import { assertKnownScope } from '../extensions/offline-access.ts'
import { findMembership } from '../extensions/organizations.ts'
import type { AuthorizationFacts, ProviderState } from './state.ts'

type Grant = NonNullable<KoaContextWithOIDC['oidc']['grant']>

/** Internal parameter that carries the requested scopes through the interaction. */
export const REQUESTED_SCOPE = 'requested_scope'

/** Parameters that hosted providers understand beside the standard ones; all are accepted, few have an effect. */
export const EXTRA_PARAMETERS = [
  'audience',
  'organization',
  'connection',
  'connection_scope',
  'screen_hint',
  'invitation',
] as const

export function parameter(ctx: KoaContextWithOIDC, name: string): string | undefined {
  const value = ctx.oidc.params?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function words(text: string | undefined): Set<string> {
  return new Set((text ?? '').split(' ').filter((word) => word !== ''))
}

/**
 * Widens the scope of a request to everything that a refresh token may later be used for. oidc-provider
 * grants `offline_access` only with a consent screen (never with `prompt=none`) and refuses to refresh for a
 * scope that was not requested at login; hosted providers do both. The requested scope is kept in
 * {@link REQUESTED_SCOPE} and limits what the first tokens get.
 *
 * @throws InvalidScope when the scope has what this provider refuses
 */
export function widenScope(state: ProviderState, ctx: KoaContextWithOIDC): void {
  const { params } = ctx.oidc
  if (!params) return
  const requested = parameter(ctx, REQUESTED_SCOPE) ?? originalScope(ctx)
  if (requested === undefined) return
  assertKnownScope(state, words(requested))
  params[REQUESTED_SCOPE] = requested
  const all = new Set([...words(requested), ...state.apis.all().flatMap((api) => api.scopes)])
  params['scope'] = [...all].join(' ')
}

/** Parameters of a request as they were sent; those of a request object, which oidc-provider has verified by now. */
function sentParameters({ oidc, query }: KoaContextWithOIDC): Readonly<Record<string, unknown>> {
  const sent = oidc.body ?? query
  const object = oidc.entities.PushedAuthorizationRequest?.request ?? sent['request']
  return typeof object === 'string' ? decodeJwt(object) : sent
}

// oidc-provider has removed `offline_access` from its parsed parameters by now; the request as sent still has it.
function originalScope(ctx: KoaContextWithOIDC): string | undefined {
  const parsed = parameter(ctx, 'scope')
  const sent = sentParameters(ctx)['scope']
  return parsed !== undefined && typeof sent === 'string' ? sent : parsed
}

/** Audience of a request in the body or query: `audience` of the vendor or `resource` of RFC 8707. */
export function requestedAudience(ctx: KoaContextWithOIDC): string | undefined {
  const body = ctx.oidc.body ?? {}
  for (const value of [body['audience'], body['resource'], ctx.oidc.params?.['audience']]) {
    if (typeof value === 'string' && value !== '') return value
  }
  const resource = ctx.oidc.params?.['resource']
  return typeof resource === 'string' && resource !== '' ? resource : undefined
}

/** Returns the requested properties of the authorization, to be stored under the id of its grant. */
export function toFacts(state: ProviderState, ctx: KoaContextWithOIDC, sub: string): AuthorizationFacts {
  const resource = ctx.oidc.params?.['resource']
  return {
    scope: words(parameter(ctx, REQUESTED_SCOPE) ?? parameter(ctx, 'scope')),
    audience: parameter(ctx, 'audience') ?? (typeof resource === 'string' ? resource : undefined),
    organization: findMembership(state.users.bySub(sub), parameter(ctx, 'organization')),
  }
}

/** Adds to a grant what was requested, plus everything of the APIs that were not (refresh for another one). */
export async function saveGrant(
  state: ProviderState,
  grant: Grant,
  facts: AuthorizationFacts,
): Promise<string> {
  grant.addOIDCScope([...facts.scope].filter((scope) => OIDC_SCOPES.includes(scope)))
  for (const api of state.apis.all()) {
    const scopes = api.scopes.filter((scope) => api.audience !== facts.audience || facts.scope.has(scope))
    if (scopes.length > 0) grant.addResourceScope(api.audience, [...scopes])
  }
  const id = await grant.save()
  state.facts.set(id, facts)
  return id
}

/**
 * Consent is implicit: every authorization gets a grant of its own, so that revoking one family of refresh
 * tokens does not affect other logins of the same user.
 */
export async function createGrant(state: ProviderState, ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
  const { account, client, provider } = ctx.oidc
  if (!account || !client) return undefined
  const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId })
  const { claims, session } = ctx.oidc
  const steppedUp = session?.amr?.includes('mfa') ?? false
  if (steppedUp) Object.assign(claims, { id_token: { ...claims.id_token, ...STEP_UP_CLAIMS } })
  const { id_token: inIdToken = {}, userinfo = {} } = claims
  grant.addOIDCClaims([...Object.keys(inIdToken), ...Object.keys(userinfo)])
  const id = await saveGrant(state, grant, toFacts(state, ctx, account.accountId))
  if (steppedUp) markVerified(state.mfa, id, 'otp', session?.loginTs ?? 0)
  return grant
}

export function findGrantFacts(
  state: ProviderState,
  ctx: KoaContextWithOIDC,
): AuthorizationFacts | undefined {
  const id = ctx.oidc.entities.Grant?.jti
  return id === undefined ? undefined : state.facts.get(id)
}

/**
 * The API that the token request is for: the one it names, else the one named at login. No API: the token is
 * opaque and good for the userinfo endpoint.
 */
export function resolveTarget(state: ProviderState, ctx: KoaContextWithOIDC): string | undefined {
  return requestedAudience(ctx) ?? findGrantFacts(state, ctx)?.audience
}

/** Resources of a request that names none by itself, or the one that a token request is for. */
export function chooseResource(
  state: ProviderState,
  ctx: KoaContextWithOIDC,
  granted: readonly string[] | undefined,
): string | readonly string[] | undefined {
  if (granted || ctx.oidc.route === 'token') return resolveTarget(state, ctx)
  const audience = parameter(ctx, 'audience')
  if (audience !== undefined && !state.apis.find(audience)) {
    throw new state.oidc.errors.InvalidTarget(describeUnknownAudience(state.apis))
  }
  return state.apis.all().map((api) => api.audience)
}

/** Scopes of a token response: those of OpenID Connect that were granted, then those of the API. */
export function responseScope(state: ProviderState, ctx: KoaContextWithOIDC, granted: unknown): string {
  const facts = findGrantFacts(state, ctx)
  const narrowed = ctx.oidc.params?.['scope']
  const asked = ctx.oidc.route === 'token' && typeof narrowed === 'string' ? words(narrowed) : facts?.scope
  const oidc = OIDC_SCOPES.filter((scope) => facts?.scope.has(scope) && asked?.has(scope))
  return [...new Set([...oidc, ...words(typeof granted === 'string' ? granted : '')])].join(' ')
}
