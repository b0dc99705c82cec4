import { randomBytes, randomInt } from 'node:crypto'
import type { ProviderState } from '../../oidc/state.ts'
import type { Factor, FactorKind, OobChannel } from './factors.ts'
import type { Message, MfaContext } from './state.ts'

/** Seconds for which a message can be approved or denied. */
const MESSAGE_TTL = 300

/** `oob_channel` of hosted providers. */
export const WIRE_CHANNELS: Record<OobChannel, string> = {
  sms: 'sms',
  voice: 'voice',
  email: 'email',
  push: 'auth0',
}

/** The channel of a factor that has one. */
export function toChannel(kind: FactorKind): OobChannel | undefined {
  return kind === 'otp' ? undefined : kind
}

/** Sends a user a message with a code to type in, or one to approve; it lands in the inbox. */
export function sendMessage(
  { clock, mfa }: ProviderState,
  context: MfaContext,
  factor: Factor,
  channel: OobChannel,
): Message {
  const message: Message = {
    id: randomBytes(24).toString('base64url'),
    sub: context.sub,
    factorId: factor.id,
    channel,
    mfaToken: context.token,
    ...(channel === 'push' ? {} : { bindingCode: String(randomInt(1_000_000)).padStart(6, '0') }),
    expiresAt: clock.now() + MESSAGE_TTL,
    decision: 'pending',
    polledAt: Number.NEGATIVE_INFINITY,
  }
  mfa.messages.set(message.id, message)
  return message
}

/** Pending messages of a user, the newest first. */
export function pendingMessages({ clock, mfa }: ProviderState, sub: string): readonly Message[] {
  return [...mfa.messages.values()]
    .reverse()
    .filter(
      (message) => message.sub === sub && message.decision === 'pending' && message.expiresAt > clock.now(),
    )
}
