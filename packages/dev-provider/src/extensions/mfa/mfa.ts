import { DevProviderError } from '../../error.ts'
import type { ProviderState } from '../../oidc/state.ts'
import type { Factor, MfaOptions, OobChannel } from './factors.ts'
import { pendingMessages } from './messages.ts'
import type { Message } from './state.ts'
import { totp } from './totp.ts'

/** A message that was sent to a user outside of the application. */
export interface InboxMessage {
  /** The `oob_code`. */
  readonly id: string
  readonly channel: OobChannel
  /** Present if the application asks the user for a code; absent if the user approves instead. */
  readonly bindingCode?: string
  /**
   * Approves a push message; the next request with its `oob_code` gets tokens.
   *
   * @throws DevProviderError when the message has a code
   */
  approve(): void
  /** Refuses; the next request with the `oob_code` gets `invalid_grant`. */
  deny(): void
}

/** Further factors of the users. A user is named by name, subject or e-mail address. */
export interface Mfa {
  /** Gives a user an authenticator app, active at once; the secret (base32) is a new one unless it is given. */
  enrollOtp(user: string, secret?: string): { readonly id: string; readonly secret: string }
  /** Gives a user an out-of-band channel, active at once; the address is made up unless it is given. */
  enrollOob(user: string, channel: OobChannel, address?: string): { readonly id: string }
  /** The recovery code of a user, who gets one if there is none. Good once, and only beside another factor. */
  recoveryCode(user: string): string
  /** The factors of a user, those included that wait for their first use. */
  authenticators(user: string): readonly Factor[]
  /** The code of an authenticator app at the provider's time. */
  totp(secret: string): string
  /** Pending messages, the newest first. */
  inbox(user: string): readonly InboxMessage[]
  /** Takes all factors and messages of a user away. */
  reset(user: string): void
}

const ADDRESSES = { sms: '+15550100100', voice: '+15550100100', email: 'owner@example.test', push: '' }

function inboxMessage(message: Message): InboxMessage {
  return {
    id: message.id,
    channel: message.channel,
    ...(message.bindingCode === undefined ? {} : { bindingCode: message.bindingCode }),
    approve: () => {
      if (message.bindingCode !== undefined) {
        throw new DevProviderError('This message has a code: send its bindingCode instead of approving it.')
      }
      message.decision = 'approved'
    },
    deny: () => {
      message.decision = 'denied'
    },
  }
}

export function createMfa(state: ProviderState): Mfa {
  const { clock, users } = state
  const { factors } = state.mfa

  const getSub = (name: string): string => {
    const user = users.find(name)
    if (user) return user.sub
    throw new DevProviderError('mfa: there is no user with that name.')
  }
  const enroll = (name: string, options: MfaOptions): Factor => {
    const [factor] = factors.addAll(getSub(name), options)
    if (factor) return factor
    throw new DevProviderError('mfa: there is no factor to enroll.')
  }
  return {
    enrollOtp: (name, given) => {
      const { id, secret = '' } = enroll(name, { otp: given ?? true })
      return { id, secret }
    },
    enrollOob: (name, channel, address) => {
      const reached = address ?? ADDRESSES[channel]
      const { id } = enroll(name, { [channel]: channel === 'push' ? true : reached })
      return { id }
    },
    recoveryCode: (name) => {
      const sub = getSub(name)
      return (factors.recovery(sub) ?? factors.renewRecovery(sub)).code
    },
    authenticators: (name) => factors.list(getSub(name)),
    totp: (secret) => totp(secret, clock.now()),
    inbox: (name) => pendingMessages(state, getSub(name)).map(inboxMessage),
    reset: (name) => {
      const sub = getSub(name)
      factors.reset(sub)
      for (const { id } of pendingMessages(state, sub)) state.mfa.messages.delete(id)
    },
  }
}
