import type { Account, AuthorizationDetail, CIBAConfiguration, KoaContextWithOIDC } from 'oidc-provider'
import { DevProviderError } from '../error.ts'
import { saveGrant, toFacts } from '../oidc/authorization.ts'
import type { AuthorizationFacts, ProviderState } from '../oidc/state.ts'
import { isRecord } from '../wire/message.ts'
import { requestedDetails } from './authorization-details.ts'
import { demandMembership } from './organizations.ts'

/** A backchannel authentication request that waits for its user. */
export interface PendingAuthentication {
  readonly authReqId: string
  readonly clientId: string
  /** Subject identifier of the user who is asked. */
  readonly sub: string
  readonly bindingMessage?: string
  readonly scope: string
}

/** The user's side of backchannel authentication (OpenID Connect CIBA Core 1.0, poll mode). */
export interface Ciba {
  pending(): readonly PendingAuthentication[]
  /** The next poll gets tokens. */
  approve(authReqId: string): Promise<void>
  /** The next poll gets `access_denied`. */
  deny(authReqId: string): Promise<void>
}

/** Facts and details of the requests that were not decided yet. */
export interface CibaRequests {
  readonly open: Map<string, OpenRequest>
}

interface OpenRequest {
  readonly pending: PendingAuthentication
  readonly facts: AuthorizationFacts
  readonly details: AuthorizationDetail[] | undefined
}

// Letters and digits of any script, blanks, and the punctuation that hosted providers allow.
const BINDING_MESSAGE = /^[\p{L}\p{N} +\-_.,:#]{1,64}$/u

function findSubject(state: ProviderState, hint: string): string | undefined {
  try {
    const value: unknown = JSON.parse(hint)
    if (isRecord(value) && value['format'] === 'iss_sub' && value['iss'] === state.issuer) {
      return typeof value['sub'] === 'string' ? value['sub'] : undefined
    }
    return undefined
  } catch {
    return state.users.find(hint)?.sub
  }
}

export function cibaConfiguration(state: ProviderState): CIBAConfiguration {
  return {
    enabled: true,
    deliveryModes: ['poll'],
    processLoginHint: (_ctx, hint) => findSubject(state, hint ?? ''),
    // The issuer of such tokens is agreed elsewhere; here the token is the name or `sub` of a user.
    processLoginHintToken: (_ctx, token) => state.users.find(token ?? '')?.sub,
    validateBindingMessage: (_ctx, message) => {
      if (message !== undefined && !BINDING_MESSAGE.test(message)) {
        throw new state.oidc.errors.InvalidBindingMessage('the binding_message has unsupported characters')
      }
    },
    validateRequestContext: () => {},
    verifyUserCode: () => {},
    triggerAuthenticationDevice: (ctx, request, account) => remember(state, ctx, request.jti, account),
  }
}

async function remember(
  state: ProviderState,
  ctx: KoaContextWithOIDC,
  authReqId: string,
  account: Account,
): Promise<void> {
  demandMembership(state, ctx)
  const facts = toFacts(state, ctx, account.accountId)
  const message = ctx.oidc.params?.['binding_message']
  const pending: PendingAuthentication = {
    authReqId,
    clientId: ctx.oidc.client?.clientId ?? '',
    sub: account.accountId,
    scope: [...facts.scope].join(' '),
    ...(typeof message === 'string' ? { bindingMessage: message } : {}),
  }
  state.ciba.open.set(authReqId, { pending, facts, details: requestedDetails(ctx) })
  if (state.settings.cibaAutoApprove) await decide(state, authReqId, true)
}

/** Returns whether a request has not expired: afterwards a decision would change nothing. */
function isLive({ clock, store }: ProviderState, authReqId: string): boolean {
  return (store.find('BackchannelAuthenticationRequest', authReqId)?.exp ?? 0) > clock.now()
}

async function decide(state: ProviderState, authReqId: string, approved: boolean): Promise<void> {
  const request = state.ciba.open.get(authReqId)
  if (!request || !isLive(state, authReqId)) {
    throw new DevProviderError('There is no open request with that auth_req_id; see ciba.pending().')
  }
  state.ciba.open.delete(authReqId)
  const { engine } = state
  if (!approved) {
    await engine.backchannelResult(authReqId, new state.oidc.errors.AccessDenied('the user refused'))
    return
  }
  const { sub, clientId } = request.pending
  const grant = new engine.Grant({ accountId: sub, clientId })
  await saveGrant(state, grant, request.facts)
  await engine.backchannelResult(authReqId, grant, {
    authTime: state.clock.now(),
    ...(request.details ? { rar: request.details } : {}),
  })
}

export function createCiba(state: ProviderState): Ciba {
  return {
    pending: () =>
      [...state.ciba.open.values()]
        .map(({ pending }) => pending)
        .filter(({ authReqId }) => isLive(state, authReqId)),
    approve: (authReqId) => state.clock.run(() => decide(state, authReqId, true)),
    deny: (authReqId) => state.clock.run(() => decide(state, authReqId, false)),
  }
}
