import { randomBytes } from 'node:crypto'
import type { Provider, TokenEndpointGrantContext } from 'oidc-provider'
import { GRANT_TYPES } from '../clients.ts'
import type { ProviderState } from '../oidc/state.ts'
import { verifyOwnToken } from '../oidc/tokens.ts'
import { DEFAULT_UPSTREAM_SCOPES } from './accounts/api.ts'
import type { ConnectedAccount } from './accounts/vault.ts'

const REFRESH_TOKEN = 'urn:ietf:params:oauth:token-type:refresh_token'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const CONNECTION_TOKEN = 'http://auth0.com/oauth/token-type/federated-connection-access-token'

interface Parameters {
  readonly connection?: string
  readonly login_hint?: string
  readonly requested_token_type?: string
  readonly subject_token?: string
  readonly subject_token_type?: string
}

const NAMES = ['connection', 'login_hint', 'requested_token_type', 'subject_token', 'subject_token_type']

/** Returns the user of the subject token, if it is a valid one of this client. */
async function resolveSubject(
  state: ProviderState,
  token: string,
  type: string,
  clientId: string,
): Promise<string | undefined> {
  const { RefreshToken, AccessToken } = state.engine
  const found = await (type === REFRESH_TOKEN ? RefreshToken.find(token) : AccessToken.find(token))
  if (found) return found.isValid && found.clientId === clientId ? found.accountId : undefined
  // JWT access tokens are not stored; their signature speaks for them.
  const claims = type === ACCESS_TOKEN ? await verifyOwnToken(state, token) : undefined
  return claims?.['client_id'] === clientId && typeof claims.sub === 'string' ? claims.sub : undefined
}

/**
 * The account that the token is for: the one that `login_hint` names, else the one connected last. A user who never
 * connected an account of the connection has one of the same name, unless the settings say otherwise.
 */
function findAccount(
  state: ProviderState,
  sub: string,
  connection: string,
  hint: string | undefined,
): Pick<ConnectedAccount, 'name' | 'scopes'> {
  const account = state.accounts
    .list(sub)
    .filter((one) => one.connection === connection && (hint === undefined || one.name === hint))
    .findLast(({ expiresAt }) => expiresAt === undefined || expiresAt > state.clock.now())
  if (account) return account
  if (state.settings.connectionsNeedAccounts || state.accounts.hasUsed(sub, connection)) {
    const { CustomOIDCProviderError } = state.oidc.errors
    const error = new CustomOIDCProviderError(
      'federated_connection_refresh_token_not_found',
      'there is no connected account with a refresh token for this connection',
    )
    throw Object.assign(error, { status: 401, statusCode: 401 })
  }
  return { name: hint ?? state.users.bySub(sub)?.name ?? sub, scopes: DEFAULT_UPSTREAM_SCOPES }
}

async function exchange(state: ProviderState, ctx: TokenEndpointGrantContext<Parameters>): Promise<void> {
  const { InvalidGrant, InvalidRequest } = state.oidc.errors
  const { connection, login_hint: hint, subject_token: token, ...rest } = ctx.oidc.params
  const type = rest.subject_token_type ?? REFRESH_TOKEN
  if (!connection || !token) throw new InvalidRequest('connection and subject_token are required')
  if (rest.requested_token_type !== CONNECTION_TOKEN) {
    throw new InvalidRequest('requested_token_type is not the one of connection access tokens')
  }
  if (type !== REFRESH_TOKEN && type !== ACCESS_TOKEN) {
    throw new InvalidRequest('subject_token_type must name a refresh token or an access token')
  }
  if (!state.connections.has(connection)) throw new InvalidRequest('the connection does not exist')
  const sub = await resolveSubject(state, token, type, ctx.oidc.client.clientId)
  if (sub === undefined)
    throw new InvalidGrant('the subject token is unknown, used, expired or another one’s')

  const { name, scopes } = findAccount(state, sub, connection, hint)
  ctx.body = {
    access_token: `${connection}.${Buffer.from(name).toString('base64url')}.${randomBytes(12).toString('base64url')}`,
    issued_token_type: CONNECTION_TOKEN,
    token_type: 'Bearer',
    expires_in: state.settings.accessTokenTtl,
    scope: scopes.join(' '),
  }
}

/**
 * The vendor's grant that turns a refresh or access token of this provider into an access token of an
 * upstream provider. The subject token is neither consumed nor rotated.
 */
export function registerFederatedConnection(state: ProviderState, engine: Provider): void {
  engine.registerGrantType<Parameters>(GRANT_TYPES.federatedConnection, (ctx) => exchange(state, ctx), NAMES)
}
