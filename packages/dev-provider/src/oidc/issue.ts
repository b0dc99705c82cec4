import type { ClaimsParameter, Provider, TokenEndpointGrantContext } from 'oidc-provider'
import {
  applyRefreshTokenBindings,
  buildTokenResponse,
  checkDpopReplay,
  checkDpopRequired,
  validateDpop,
} from 'oidc-provider/lib/helpers/grants.js'
import { OIDC_SCOPES } from '../apis.ts'
import { toExpiryClaim } from '../extensions/session-expiry.ts'
import type { User } from '../users.ts'
import { findGrantFacts } from './authorization.ts'
import type { ProviderState } from './state.ts'
import { toFactClaims, toResourceServer } from './tokens.ts'

type AccessToken = InstanceType<Provider['AccessToken']>
type RefreshToken = InstanceType<Provider['RefreshToken']>

/** A DPoP proof that was checked; `undefined` when none was sent. */
export type Proof = Awaited<ReturnType<typeof validateDpop>>

/** How and when the user authenticated. */
export interface Authentication {
  readonly amr: string[]
  /** Seconds since the epoch. */
  readonly authTime: number
  /** Claims that the application requested by name. */
  readonly claims: ClaimsParameter
}

/** The tokens that a custom grant issues. */
export interface Order {
  readonly user: User
  readonly grant: InstanceType<Provider['Grant']>
  readonly grantId: string
  readonly gty: string
  /** `undefined`: an opaque access token, good for userinfo. */
  readonly audience: string | undefined
  readonly scope: ReadonlySet<string>
  readonly proof: Proof
  /** Unknown for a token exchange. */
  readonly authentication?: Authentication
  /** The refresh token that the new one follows on. */
  readonly previous?: RefreshToken
  readonly issuedTokenType?: string
  /** More members of the response. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** The DPoP proof of a request, checked but not yet used up; what is wrong with it is thrown. */
export async function verifyProof(ctx: TokenEndpointGrantContext): Promise<Proof> {
  const { provider } = ctx.oidc
  const proof = await validateDpop(provider, ctx)
  checkDpopRequired(provider, ctx, proof)
  return proof
}

/** Issues the tokens of a custom grant and puts them into the response. */
export async function issueTokens(
  state: ProviderState,
  ctx: TokenEndpointGrantContext,
  order: Order,
): Promise<void> {
  const { provider } = ctx.oidc
  ctx.oidc.entity('Grant', order.grant)
  const token = await createAccessToken(state, ctx, order)
  const refreshToken = await issueRefreshToken(state, ctx, order, token)
  const accessToken = await token.save()
  const idToken = order.scope.has('openid') ? await issueIdToken(state, ctx, order) : undefined
  ctx.body = buildTokenResponse(provider, {
    accessToken,
    expiresIn: token.expiration,
    tokenType: token.tokenType,
    scope: token.scope,
    ...(order.issuedTokenType === undefined ? {} : { issuedTokenType: order.issuedTokenType }),
    ...(order.parameters ? { parameters: order.parameters } : {}),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(idToken === undefined ? {} : { idToken }),
  })
}

async function createAccessToken(
  state: ProviderState,
  ctx: TokenEndpointGrantContext,
  order: Order,
): Promise<AccessToken> {
  const { provider, client } = ctx.oidc
  const { audience, grant, grantId, gty, previous, proof, user } = order
  const api = audience === undefined ? undefined : state.apis.find(audience)
  const token = new provider.AccessToken({
    accountId: user.sub,
    client,
    grantId,
    gty,
    scope: '',
    ...(previous?.sid === undefined ? {} : { sid: previous.sid }),
    ...(previous?.sessionUid === undefined ? {} : { sessionUid: previous.sessionUid }),
  })
  if (api) {
    token.resourceServer = new provider.ResourceServer(api.audience, toResourceServer(state, api))
    const known = api.scopes.filter((scope) => order.scope.has(scope))
    token.scope = grant.getResourceScopeFiltered(api.audience, known)
  } else {
    token.scope = grant.getOIDCScopeFiltered([...order.scope])
  }
  if (proof) {
    await checkDpopReplay(provider, ctx, proof, client.clientId)
    token.setThumbprint('jkt', proof.thumbprint)
  }
  return token
}

/** The next one of the family, as at a refresh; the first one of a new family when there is none before it. */
async function issueRefreshToken(
  state: ProviderState,
  ctx: TokenEndpointGrantContext,
  order: Order,
  accessToken: AccessToken,
): Promise<string | undefined> {
  const { provider, client } = ctx.oidc
  const { authentication, grantId, gty, previous, user } = order
  if (previous && !state.settings.rotateRefreshTokens) return Object.assign(previous, authentication).save()
  if (previous && !previous.consumed) await previous.consume()
  if (!previous && !findGrantFacts(state, ctx)?.scope.has('offline_access')) return undefined
  const apis = state.apis.all()
  const token = new provider.RefreshToken({
    accountId: user.sub,
    client,
    grantId,
    gty: previous?.gty ?? gty,
    rotations: previous ? (previous.rotations ?? 0) + 1 : 0,
    scope: previous?.scope ?? [...order.scope, ...apis.flatMap((api) => api.scopes)].join(' '),
    resource: previous?.resource ?? apis.map((api) => api.audience),
    acr: previous?.acr,
    expiresWithSession: previous?.expiresWithSession,
    iiat: previous?.iiat,
    nonce: previous?.nonce,
    sessionUid: previous?.sessionUid,
    sid: previous?.sid,
    ...authentication,
  })
  await applyRefreshTokenBindings(provider, ctx, accessToken, token)
  return token.save()
}

function issueIdToken(state: ProviderState, ctx: TokenEndpointGrantContext, order: Order): Promise<string> {
  const { authentication, previous, user } = order
  const token = new ctx.oidc.provider.IdToken(
    {
      ...user.claims,
      ...toFactClaims(findGrantFacts(state, ctx)),
      ...toExpiryClaim(state, ctx, authentication?.authTime),
      sub: user.sub,
      ...(authentication ? { amr: authentication.amr, auth_time: authentication.authTime } : {}),
      ...(previous?.acr === undefined ? {} : { acr: previous.acr }),
    },
    { ctx },
  )
  for (const claim of ['nonce', 'sid'] as const) {
    if (previous?.[claim] !== undefined) token.set(claim, previous[claim])
  }
  const scope = OIDC_SCOPES.filter((name) => order.scope.has(name)).join(' ')
  const mask = authentication?.claims.id_token ?? {}
  return Object.assign(token, { scope, mask, rejected: [] }).issue({ use: 'idtoken' })
}
