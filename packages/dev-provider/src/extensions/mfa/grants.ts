import type { Provider, TokenEndpointGrantContext } from 'oidc-provider'
import { validateGrant } from 'oidc-provider/lib/helpers/grants.js'
import { GRANT_TYPES } from '../../clients.ts'
import type { Authentication, Proof } from '../../oidc/issue.ts'
import { issueTokens, verifyProof } from '../../oidc/issue.ts'
import type { ProviderState } from '../../oidc/state.ts'
import { assertMfa, refusal } from './demand.ts'
import type { FactorKind } from './factors.ts'
import type { Message, MfaContext } from './state.ts'
import { MAX_WRONG_CODES, markVerified, STEP_UP_CLAIMS } from './state.ts'
import { matchesTotp } from './totp.ts'

interface Parameters {
  readonly audience?: string
  readonly binding_code?: string
  readonly mfa_token?: string
  readonly oob_code?: string
  readonly otp?: string
  readonly recovery_code?: string
  readonly scope?: string
}

type Context = TokenEndpointGrantContext<Parameters>
type RefreshToken = InstanceType<Provider['RefreshToken']>

/** The factor that the user proved. */
interface Verified {
  readonly kind: FactorKind
  /** Absent for a recovery code. */
  readonly factorId?: string
  /** More members of the response. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** Looks at the code of a request; throws what is wrong with it. */
type Check = (state: ProviderState, ctx: Context, mfa: MfaContext) => Verified

const NAMES = ['audience', 'mfa_token', 'scope']

/** Authentication methods of RFC 8176. */
const METHODS: Record<FactorKind, string> = {
  otp: 'otp',
  sms: 'sms',
  voice: 'tel',
  email: 'otp',
  push: 'swk',
}

function getContext(state: ProviderState, ctx: Context): MfaContext {
  const { InvalidRequest, InvalidTarget } = state.oidc.errors
  const { mfa_token: token, audience } = ctx.oidc.params
  if (!token) throw new InvalidRequest('mfa_token is missing')
  const mfa = state.mfa.contexts.get(token)
  if (!mfa) throw refusal(state, 403, 'invalid_grant', 'the mfa_token is unknown or used')
  if (mfa.clientId !== ctx.oidc.client.clientId) {
    throw new InvalidRequest('the mfa_token was issued to another client')
  }
  if (mfa.expiresAt <= state.clock.now()) {
    throw refusal(state, 403, 'expired_token', 'the mfa_token has expired')
  }
  if (audience && audience !== mfa.audience) {
    throw new InvalidTarget('the mfa_token was issued for another audience')
  }
  if (mfa.wrongCodes >= MAX_WRONG_CODES) {
    throw refusal(state, 429, 'too_many_attempts', 'too many wrong codes')
  }
  return mfa
}

function wrongCode(state: ProviderState, mfa: MfaContext, description: string): Error {
  mfa.wrongCodes += 1
  return refusal(state, 403, 'invalid_grant', description)
}

const checkOtp: Check = (state, ctx, mfa) => {
  const { otp } = ctx.oidc.params
  if (!otp) throw new state.oidc.errors.InvalidRequest('otp is missing')
  const factor = state.mfa.factors
    .list(mfa.sub)
    .filter(({ active, id }) => active || mfa.enrolled.has(id))
    .find(({ secret }) => secret !== undefined && matchesTotp(secret, otp, state.clock.now()))
  if (!factor) throw wrongCode(state, mfa, 'the otp is wrong')
  return { kind: factor.kind, factorId: factor.id }
}

function getMessage(state: ProviderState, ctx: Context, mfa: MfaContext): Message {
  const { InvalidRequest } = state.oidc.errors
  const { oob_code: code } = ctx.oidc.params
  if (!code) throw new InvalidRequest('oob_code is missing')
  const message = state.mfa.messages.get(code)
  if (!message) throw refusal(state, 403, 'invalid_grant', 'the oob_code is unknown or used')
  if (message.mfaToken !== mfa.token) throw new InvalidRequest('the oob_code is of another mfa_token')
  if (message.decision === 'denied') throw refusal(state, 403, 'invalid_grant', 'the user refused')
  if (message.expiresAt <= state.clock.now()) {
    throw refusal(state, 403, 'expired_token', 'the oob_code has expired')
  }
  return message
}

const checkOob: Check = (state, ctx, mfa) => {
  const { AuthorizationPending, InvalidRequest, SlowDown } = state.oidc.errors
  const message = getMessage(state, ctx, mfa)
  if (message.bindingCode !== undefined) {
    const { binding_code: code } = ctx.oidc.params
    if (!code) throw new InvalidRequest('binding_code is missing')
    if (code !== message.bindingCode) throw wrongCode(state, mfa, 'the binding_code is wrong')
  } else if (message.decision === 'pending') {
    const now = state.clock.milliseconds()
    const soon = now - message.polledAt < state.settings.mfaInterval * 1000
    message.polledAt = now
    throw soon ? new SlowDown('poll less often') : new AuthorizationPending('the user has not decided yet')
  }
  state.mfa.messages.delete(message.id)
  return { kind: message.channel, factorId: message.factorId }
}

const checkRecoveryCode: Check = (state, ctx, mfa) => {
  const { recovery_code: code } = ctx.oidc.params
  if (!code) throw new state.oidc.errors.InvalidRequest('recovery_code is missing')
  const { factors } = state.mfa
  const lost = factors.list(mfa.sub).find(({ active }) => active)
  if (!lost || code.replace(/[\s-]/g, '') !== factors.recovery(mfa.sub)?.code) {
    throw wrongCode(state, mfa, 'the recovery_code is wrong')
  }
  const parameters = { recovery_code: factors.renewRecovery(mfa.sub).code }
  return { kind: mfa.missing[0] ?? lost.kind, parameters }
}

/** The refresh token that the family continues from, if the refused request had one. */
async function findPrevious(
  state: ProviderState,
  mfa: MfaContext,
  proof: Proof,
): Promise<RefreshToken | undefined> {
  if (mfa.refreshToken === undefined) return undefined
  const { InvalidGrant } = state.oidc.errors
  const previous = await state.engine.RefreshToken.find(mfa.refreshToken, { ignoreExpiration: true })
  if (!previous || previous.isExpired) throw new InvalidGrant('the refresh token is revoked or expired')
  if (previous.jkt !== undefined && previous.jkt !== proof?.thumbprint) {
    throw new InvalidGrant('the refresh token is bound to another key')
  }
  return previous
}

function words(text: string): readonly string[] {
  return text.split(' ').filter((word) => word !== '')
}

/** The scopes of the tokens: those of the refused request, or some of them. */
function resolveScope(
  state: ProviderState,
  ctx: Context,
  mfa: MfaContext,
  granted: string | undefined,
): ReadonlySet<string> {
  const bound = mfa.scope ?? granted ?? [...(state.facts.get(mfa.grantId)?.scope ?? [])].join(' ')
  const allowed = new Set(words(bound))
  const asked = ctx.oidc.params.scope ?? mfa.scope
  const more = words(asked ?? '').filter((scope) => !allowed.has(scope))
  if (more.length > 0) {
    throw new state.oidc.errors.InvalidScope('the mfa_token was issued for fewer scopes', more.join(' '))
  }
  return asked === undefined ? allowed : new Set(words(asked))
}

function toAuthentication(
  state: ProviderState,
  passed: readonly FactorKind[],
  previous: RefreshToken | undefined,
): Authentication {
  const { id_token: claims } = previous?.claims ?? {}
  return {
    amr: [...new Set(['pwd', ...passed.map((kind) => METHODS[kind]), 'mfa'])],
    authTime: state.clock.now(),
    claims: { ...previous?.claims, id_token: { ...claims, ...STEP_UP_CLAIMS } },
  }
}

async function verify(state: ProviderState, ctx: Context, check: Check): Promise<void> {
  // Before the code is looked at: a proof without a nonce must not use it up.
  const proof = await verifyProof(ctx)
  const mfa = getContext(state, ctx)
  const grant = await validateGrant(ctx.oidc.provider, ctx, mfa.grantId)
  const previous = await findPrevious(state, mfa, proof)
  const scope = resolveScope(state, ctx, mfa, previous?.scope)
  const user = state.users.bySub(mfa.sub)
  if (!user) throw new state.oidc.errors.InvalidGrant('the user is gone')

  const { kind, factorId, parameters } = check(state, ctx, mfa)
  if (mfa.missing.length > 0 && !mfa.missing.includes(kind)) {
    throw refusal(state, 403, 'invalid_grant', 'another factor was requested')
  }
  const { factors, contexts } = state.mfa
  if (factorId !== undefined) factors.use(user.sub, factorId)
  contexts.delete(mfa.token)
  markVerified(state.mfa, mfa.grantId, kind, state.clock.now())
  const passed = [...mfa.passed, kind]
  assertMfa(state, mfa, passed)

  // The response names the scopes of this request.
  if (mfa.scope !== undefined) ctx.oidc.params.scope ??= mfa.scope
  await issueTokens(state, ctx, {
    user,
    grant,
    grantId: mfa.grantId,
    gty: 'mfa',
    audience: mfa.audience,
    scope,
    proof,
    authentication: toAuthentication(state, passed, previous),
    ...(previous ? { previous } : {}),
    ...(parameters ? { parameters } : {}),
  })
}

/** The vendor's grants that turn an `mfa_token` and the code of a further factor into tokens. */
export function registerMfaGrants(state: ProviderState, engine: Provider): void {
  const register = (type: string, check: Check, names: readonly string[]): void =>
    engine.registerGrantType<Parameters>(type, (ctx) => verify(state, ctx, check), [...NAMES, ...names])
  register(GRANT_TYPES.mfaOtp, checkOtp, ['otp'])
  register(GRANT_TYPES.mfaOob, checkOob, ['oob_code', 'binding_code'])
  register(GRANT_TYPES.mfaRecoveryCode, checkRecoveryCode, ['recovery_code'])
}
