import type { ProviderState } from '../../oidc/state.ts'
import type { BufferedResponse } from '../../wire/message.ts'
import { jsonResponse } from '../../wire/message.ts'
import { FACTOR_TYPES } from './demand.ts'
import type { Factor, FactorKind, NewFactor, OobChannel } from './factors.ts'
import { OOB_CHANNELS } from './factors.ts'
import { sendMessage, WIRE_CHANNELS } from './messages.ts'
import { Refused } from './refused.ts'
import type { MfaContext } from './state.ts'
import { otpauthUri } from './totp.ts'

type Fields = Readonly<Record<string, unknown>>

function invalid(description: string): Refused {
  return new Refused(400, 'invalid_request', description)
}

/** The first text of a list. */
function getFirst(fields: Fields, name: string): string {
  const value = fields[name]
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  if (typeof first === 'string') return first
  throw invalid(`${name} must be a list with one text`)
}

function channelIn(fields: Fields): OobChannel {
  const name = getFirst(fields, 'oob_channels')
  const channel = OOB_CHANNELS.find((known) => WIRE_CHANNELS[known] === name)
  if (channel) return channel
  throw new Refused(400, 'unsupported_challenge_type', 'the oob_channel is not supported')
}

function kindIn(fields: Fields): FactorKind {
  const type = getFirst(fields, 'authenticator_types')
  if (type === 'otp') return 'otp'
  if (type === 'oob') return channelIn(fields)
  throw new Refused(400, 'unsupported_challenge_type', 'the authenticator type is not supported')
}

function addressIn(state: ProviderState, sub: string, kind: FactorKind, fields: Fields): string | undefined {
  if (kind === 'otp' || kind === 'push') return undefined
  if (kind === 'email') {
    const email = fields['email'] ?? state.users.bySub(sub)?.claims['email']
    if (typeof email === 'string' && /^\S+@\S+$/.test(email)) return email
    throw invalid('email must be an e-mail address')
  }
  const phone = fields['phone_number']
  if (typeof phone === 'string' && /^\+[1-9]\d{6,14}$/.test(phone)) return phone
  throw invalid('phone_number must be a number like +15550100')
}

function enroll(state: ProviderState, context: MfaContext, factor: NewFactor): Factor {
  const { factors } = state.mfa
  // Another try with the same token replaces what was not verified.
  for (const { active, id, kind } of factors.list(context.sub)) {
    if (!active && kind === factor.kind && context.enrolled.has(id)) factors.remove(context.sub, id)
  }
  const enrolled = factors.add(context.sub, factor)
  context.enrolled.add(enrolled.id)
  return enrolled
}

function accountName(state: ProviderState, sub: string): string {
  return state.users.bySub(sub)?.name ?? sub
}

function appMembers(state: ProviderState, { secret = '' }: Factor, sub: string): object {
  return { authenticator_type: 'otp', secret, barcode_uri: otpauthUri(secret, accountName(state, sub)) }
}

function oobMembers(state: ProviderState, context: MfaContext, factor: Factor, channel: OobChannel): object {
  const message = sendMessage(state, context, factor, channel)
  const barcode = (): string =>
    otpauthUri(factor.id, accountName(state, context.sub), { enrollment_tx_id: message.id })
  return {
    authenticator_type: 'oob',
    oob_channel: WIRE_CHANNELS[channel],
    oob_code: message.id,
    ...(message.bindingCode === undefined ? { barcode_uri: barcode() } : { binding_method: 'prompt' }),
  }
}

/**
 * Enrolls a factor, which is active once it was verified with the same `mfa_token`. Only a user who has none of those
 * that are demanded may, because a stolen first factor could otherwise bring its own second one.
 */
export function associate(state: ProviderState, context: MfaContext, fields: Fields): BufferedResponse {
  const { requirements, sub } = context
  const kind = kindIn(fields)
  const address = addressIn(state, sub, kind, fields)
  if (!requirements.enroll) throw new Refused(403, 'access_denied', 'the user has enrolled a factor already')
  if (!requirements.enroll.some(({ type }) => type === FACTOR_TYPES[kind])) {
    throw new Refused(400, 'unsupported_challenge_type', 'another factor is demanded')
  }
  const factor = enroll(state, context, { kind, ...(address === undefined ? {} : { address }) })
  const { factors } = state.mfa
  const codes = factors.recovery(sub) ? {} : { recovery_codes: [factors.renewRecovery(sub).code] }
  const members = kind === 'otp' ? appMembers(state, factor, sub) : oobMembers(state, context, factor, kind)
  return jsonResponse(200, { id: factor.id, ...members, ...codes })
}
