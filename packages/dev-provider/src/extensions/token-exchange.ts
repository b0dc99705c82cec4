import type { Provider, TokenEndpointGrantContext } from 'oidc-provider'
import { GRANT_TYPES } from '../clients.ts'
import { saveGrant } from '../oidc/authorization.ts'
import { issueTokens, verifyProof } from '../oidc/issue.ts'
import type { AuthorizationFacts, ProviderState } from '../oidc/state.ts'
import { verifyOwnToken } from '../oidc/tokens.ts'
import type { User } from '../users.ts'
import { assertMfa } from './mfa/demand.ts'
import { findMembership } from './organizations.ts'

const ISSUED_TYPE = 'urn:ietf:params:oauth:token-type:access_token'

interface Parameters {
  readonly actor_token?: string
  readonly actor_token_type?: string
  readonly audience?: string
  readonly organization?: string
  readonly subject_token?: string
  readonly subject_token_type?: string
}

const NAMES = [
  'actor_token',
  'actor_token_type',
  'audience',
  'organization',
  'requested_token_type',
  'scope',
  'subject_token',
  'subject_token_type',
]

type Context = TokenEndpointGrantContext<Parameters>

/** The user of a token: one of this provider, or one that the option `acceptSubjectToken` accepts. */
async function findUser(state: ProviderState, token: string, type: string): Promise<User | undefined> {
  const own = await verifyOwnToken(state, token)
  const opaque = own ? undefined : await state.engine.AccessToken.find(token)
  const sub = own?.sub ?? (opaque?.isValid ? opaque.accountId : undefined)
  if (sub !== undefined) return state.users.bySub(sub)
  const name = state.acceptSubjectToken(token, type)
  return name === undefined ? undefined : state.users.find(name)
}

async function factsFrom(state: ProviderState, ctx: Context, user: User): Promise<AuthorizationFacts> {
  const { InvalidGrant, InvalidRequest } = state.oidc.errors
  const { params } = ctx.oidc
  const actor = params.actor_token
    ? await findUser(state, params.actor_token, params.actor_token_type ?? '')
    : undefined
  if (params.actor_token && !params.actor_token_type) throw new InvalidRequest('actor_token_type is missing')
  if (params.actor_token && !actor) throw new InvalidGrant('the actor token is not accepted')
  const organization = findMembership(user, params.organization)
  if (params.organization && !organization) {
    throw new InvalidGrant('the user is not a member of the organization')
  }
  return {
    scope: new Set((params.scope ?? '').split(' ').filter((scope) => scope !== '')),
    audience: params.audience,
    organization,
    actor: actor && { sub: actor.sub },
  }
}

async function issue(
  state: ProviderState,
  ctx: Context,
  user: User,
  facts: AuthorizationFacts,
): Promise<void> {
  const { provider, client, params } = ctx.oidc
  const proof = await verifyProof(ctx)
  const grant = new provider.Grant({ accountId: user.sub, clientId: client.clientId })
  const grantId = await saveGrant(state, grant, facts)
  const { audience, scope } = facts
  if (audience !== undefined) {
    const { clientId } = client
    const request = { clientId, sub: user.sub, grantId, audience, scope: params.scope }
    assertMfa(state, { ...request, refreshToken: undefined })
  }
  await issueTokens(state, ctx, {
    user,
    grant,
    grantId,
    gty: 'token_exchange',
    audience,
    scope,
    proof,
    issuedTokenType: ISSUED_TYPE,
  })
}

/** RFC 8693: exchanges a token of this provider, or a foreign one, for tokens of the same user. */
export function registerTokenExchange(state: ProviderState, engine: Provider): void {
  engine.registerGrantType<Parameters>(
    GRANT_TYPES.tokenExchange,
    async (ctx) => {
      const { InvalidGrant, InvalidRequest } = state.oidc.errors
      const { subject_token: token, subject_token_type: type } = ctx.oidc.params
      if (!token || !type) throw new InvalidRequest('subject_token and subject_token_type are required')
      const user = await findUser(state, token, type)
      if (!user) throw new InvalidGrant('the subject token is not accepted')
      await issue(state, ctx, user, await factsFrom(state, ctx, user))
    },
    NAMES,
  )
}
