import { randomBytes } from 'node:crypto'
import type { FindAccount, KoaContextWithOIDC } from 'oidc-provider'
import { resolveTarget } from '../../oidc/authorization.ts'
import type { ProviderState } from '../../oidc/state.ts'
import { isRecord } from '../../wire/message.ts'
import type { FactorKind } from './factors.ts'
import type { MfaContext, MfaRequirements } from './state.ts'

type ProviderError = InstanceType<ProviderState['oidc']['errors']['OIDCProviderError']>
type Source = Parameters<FindAccount>[2]

/** A token request of a user, as far as further factors are concerned. */
export type MfaRequest = Pick<
  MfaContext,
  'clientId' | 'sub' | 'grantId' | 'audience' | 'scope' | 'refreshToken'
>

/** Seconds for which an `mfa_token` is good. */
const TOKEN_TTL = 600

/** Names of the kinds of factors in `mfa_requirements` and in the list of authenticators, as hosted providers use them. */
export const FACTOR_TYPES: Record<FactorKind, string> = {
  otp: 'otp',
  sms: 'phone',
  voice: 'phone',
  email: 'email',
  push: 'push-notification',
}

const ALL_KINDS: readonly FactorKind[] = ['otp', 'sms', 'voice', 'push', 'email']

/** An OAuth error with a status of its own. */
export function refusal(
  state: ProviderState,
  status: number,
  error: string,
  description: string,
): ProviderError {
  const thrown = new state.oidc.errors.OIDCProviderError(status, error)
  return Object.assign(thrown, { error_description: description })
}

/** Factors that still have to be verified; none in the list: any one will do. `undefined`: nothing is missing. */
function missingFactors(
  { apis, clock, mfa, settings }: ProviderState,
  { audience, grantId }: MfaRequest,
  passed: readonly FactorKind[],
): readonly FactorKind[] | undefined {
  const demanded = apis.find(audience)?.requiresMfa
  if (!demanded) return undefined
  const verified = new Set(passed)
  for (const [kind, time] of mfa.verified.get(grantId) ?? []) {
    if (time + settings.mfaTtl > clock.now()) verified.add(kind)
  }
  if (demanded === true) return verified.size > 0 ? undefined : []
  const missing = demanded.filter((kind) => !verified.has(kind))
  return missing.length > 0 ? missing : undefined
}

function typed(types: readonly string[]): readonly { readonly type: string }[] {
  return [...new Set(types)].map((type) => ({ type }))
}

function toRequirements(
  { mfa }: ProviderState,
  sub: string,
  missing: readonly FactorKind[],
): MfaRequirements {
  const wanted = missing.length > 0 ? missing : ALL_KINDS
  const usable = mfa.factors
    .list(sub)
    .filter(({ active, kind }) => active && wanted.includes(kind))
    .map(({ kind }) => FACTOR_TYPES[kind])
  if (usable.length === 0) return { enroll: typed(wanted.map((kind) => FACTOR_TYPES[kind])) }
  const recovery = mfa.factors.recovery(sub) ? ['recovery-code'] : []
  return { challenge: typed([...usable, ...recovery]) }
}

function dropExpired({ clock, mfa }: ProviderState): void {
  for (const [token, { expiresAt }] of mfa.contexts) {
    // Expired ones are kept as long again, so that they are told from unknown ones.
    if (expiresAt + TOKEN_TTL <= clock.now()) mfa.contexts.delete(token)
  }
  for (const [id, { expiresAt }] of mfa.messages) {
    if (expiresAt + TOKEN_TTL <= clock.now()) mfa.messages.delete(id)
  }
}

/**
 * Throws `mfa_required` (403) when the API demands a factor that was not verified lately. The error carries a new
 * `mfa_token`, bound to the request.
 */
export function assertMfa(
  state: ProviderState,
  request: MfaRequest,
  passed: readonly FactorKind[] = [],
): void {
  const missing = missingFactors(state, request, passed)
  if (!missing) return
  dropExpired(state)
  const context: MfaContext = {
    ...request,
    token: randomBytes(32).toString('base64url'),
    missing,
    passed,
    requirements: toRequirements(state, request.sub, missing),
    expiresAt: state.clock.now() + TOKEN_TTL,
    enrolled: new Set(),
    wrongCodes: 0,
  }
  state.mfa.contexts.set(context.token, context)
  const error = refusal(state, 403, 'mfa_required', 'the API demands another factor')
  throw Object.assign(error, { mfa_token: context.token, mfa_requirements: context.requirements })
}

/**
 * Demands further factors of a token request with a refresh token or a backchannel authentication request. It is
 * called when oidc-provider looks up the account: after all checks of the request, and before a refresh token is used
 * up, so that the one that was presented stays good.
 */
export function assertTokenRequestMfa(state: ProviderState, ctx: KoaContextWithOIDC, source: Source): void {
  const { client, route } = ctx.oidc
  if (route !== 'token' || !client) return
  if (source?.kind !== 'RefreshToken' && source?.kind !== 'BackchannelAuthenticationRequest') return
  const { accountId: sub, consumed, grantId } = source
  const audience = resolveTarget(state, ctx)
  // The reuse of a refresh token is an error of its own.
  if (!sub || !audience || !grantId || (source.kind === 'RefreshToken' && consumed)) return
  const scope = ctx.oidc.params?.['scope']
  assertMfa(state, {
    clientId: client.clientId,
    sub,
    grantId,
    audience,
    scope: typeof scope === 'string' ? scope : undefined,
    refreshToken: source.kind === 'RefreshToken' ? source.jti : undefined,
  })
}

/** oidc-provider responds with the properties that OAuth defines; `mfa_required` has two more. */
export function addDemandMembers(ctx: KoaContextWithOIDC, error: Error): void {
  const body: unknown = ctx.body
  if (!isRecord(body) || !('mfa_token' in error) || !('mfa_requirements' in error)) return
  ctx.body = { ...body, mfa_token: error.mfa_token, mfa_requirements: error.mfa_requirements }
}
