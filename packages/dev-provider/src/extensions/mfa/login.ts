import type { InteractionResults, Provider } from 'oidc-provider'
import type { ProviderState } from '../../oidc/state.ts'
import type { User } from '../../users.ts'
import type { Factor } from './factors.ts'
import type { PendingLogin } from './state.ts'
import { MAX_WRONG_CODES } from './state.ts'
import { createTotpSecret, matchesTotp } from './totp.ts'

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>
type Parameters = Readonly<Record<string, unknown>>

const MULTI_FACTOR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** Values of `acr_values` that ask for a second step. */
export const MULTI_FACTOR_ACRS: readonly string[] = [MULTI_FACTOR, 'urn:idp-dev:loa2']

/** Logins that wait for their second step; older ones make room. */
const MAX_LOGINS = 1000

function acrValues({ acr_values: values }: Parameters): readonly string[] {
  return typeof values === 'string' ? values.split(' ').filter((value) => value !== '') : []
}

/** Does an authorization request ask for a second step, by `acr_values` or by an API that demands one? */
export function asksSecondStep({ apis }: ProviderState, params: Parameters): boolean {
  const { audience, resource } = params
  const named = [audience, resource].find((value) => typeof value === 'string' && value !== '')
  const demanded = typeof named === 'string' && Boolean(apis.find(named)?.requiresMfa)
  return demanded || acrValues(params).some((value) => MULTI_FACTOR_ACRS.includes(value))
}

/** Was the second step of a session at the provider taken lately? */
export function tookSecondStep(
  { clock, settings }: ProviderState,
  session: { readonly amr?: readonly string[] | undefined; readonly loginTs?: number | undefined },
): boolean {
  return Boolean(session.amr?.includes('mfa')) && (session.loginTs ?? 0) + settings.mfaTtl > clock.now()
}

function activeApps({ mfa }: ProviderState, sub: string): readonly Factor[] {
  return mfa.factors.list(sub).filter(({ active, kind }) => active && kind === 'otp')
}

/** Notes who is signing in, for the second step. Who has no authenticator app will enroll one. */
export function beginSecondStep(state: ProviderState, interaction: Interaction, user: User): PendingLogin {
  const { logins } = state.mfa
  const [oldest] = logins.keys()
  if (logins.size >= MAX_LOGINS && oldest !== undefined) logins.delete(oldest)
  const login: PendingLogin = {
    sub: user.sub,
    ...(activeApps(state, user.sub).length > 0 ? {} : { secret: createTotpSecret() }),
    wrongCodes: 0,
  }
  logins.set(interaction.uid, login)
  return login
}

/** Reasons to ask a signed-in user for the second step only. */
const STEP_UP_REASONS = ['acr_values', 'second_step']

/** The login that waits for its second step, if there is one: begun before, or that of a session at the provider. */
export function pendingLogin(state: ProviderState, interaction: Interaction): PendingLogin | undefined {
  const begun = state.mfa.logins.get(interaction.uid)
  if (begun) return begun
  const { prompt, session } = interaction
  const user = session?.accountId === undefined ? undefined : state.users.bySub(session.accountId)
  const alone = prompt.reasons.every((reason) => STEP_UP_REASONS.includes(reason))
  return user && alone && asksSecondStep(state, interaction.params)
    ? beginSecondStep(state, interaction, user)
    : undefined
}

/** The authentication after the second step. */
function secondStepTaken(interaction: Interaction, sub: string): NonNullable<InteractionResults['login']> {
  const asked = acrValues(interaction.params)
  const acr = asked.find((value) => MULTI_FACTOR_ACRS.includes(value)) ?? asked[0] ?? MULTI_FACTOR
  return { accountId: sub, amr: ['pwd', 'otp', 'mfa'], acr }
}

/** Takes the second step with a code; a text says what is wrong with it. */
export function takeSecondStep(
  state: ProviderState,
  interaction: Interaction,
  login: PendingLogin,
  code: string,
): NonNullable<InteractionResults['login']> | string {
  const { factors, logins } = state.mfa
  const now = state.clock.now()
  if (login.wrongCodes >= MAX_WRONG_CODES) return 'Too many wrong codes. Start again in the application.'
  const matches = (secret: string | undefined): boolean =>
    secret !== undefined && matchesTotp(secret, code.replace(/\s/g, ''), now)
  const enrolled = login.secret !== undefined && matches(login.secret)
  const [app] = enrolled
    ? factors.addAll(login.sub, { otp: login.secret })
    : activeApps(state, login.sub).filter(({ secret }) => matches(secret))
  if (!app) {
    login.wrongCodes += 1
    return 'This code is wrong. Wait for the next one and try again.'
  }
  factors.use(login.sub, app.id)
  logins.delete(interaction.uid)
  return secondStepTaken(interaction, login.sub)
}
