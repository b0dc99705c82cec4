import { randomInt } from 'node:crypto'
import { DevProviderError } from '../../error.ts'
import { createTotpSecret, isTotpSecret } from './totp.ts'

export const OOB_CHANNELS = ['sms', 'voice', 'email', 'push'] as const

/** How an out-of-band message reaches its user. */
export type OobChannel = (typeof OOB_CHANNELS)[number]

/** A one-time password of an authenticator app, or an out-of-band channel. */
export type FactorKind = 'otp' | OobChannel

/** Factors that a user has from the start. */
export interface MfaOptions {
  /** An authenticator app; a text is its secret in base32. */
  readonly otp?: true | string
  /** Phone number for text messages. */
  readonly sms?: string
  /** Phone number for calls. */
  readonly voice?: string
  /** E-mail address. */
  readonly email?: string
  /** An app that asks for approval. */
  readonly push?: true
}

/** A factor of a user. */
export interface Factor {
  readonly id: string
  readonly kind: FactorKind
  /** Base32; of an authenticator app only. */
  readonly secret?: string
  /** Phone number or e-mail address. */
  readonly address?: string
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** It was used once, so that its owner is known to have it. */
  readonly active: boolean
  /** Seconds since the epoch; absent before its first use. */
  readonly lastUsedAt?: number
}

/** A recovery code, which replaces any other factor once. */
export interface Recovery {
  readonly id: string
  readonly code: string
}

export type NewFactor = Pick<Factor, 'kind' | 'address' | 'secret'>

export interface FactorDirectory {
  list(sub: string): readonly Factor[]
  /** Adds a factor that is not active yet. An authenticator app without `secret` gets a new one. */
  add(sub: string, factor: NewFactor): Factor
  /** Adds the factors of the options, active at once. */
  addAll(sub: string, options: MfaOptions): readonly Factor[]
  /** A factor was used; that makes it active. */
  use(sub: string, id: string): void
  /** Takes a factor away. */
  remove(sub: string, id: string): void
  /** The recovery code of a user; `undefined` before the first factor. */
  recovery(sub: string): Recovery | undefined
  /** Replaces the recovery code, or makes the first one. */
  renewRecovery(sub: string): Recovery
  /** Takes all factors and the recovery code away. */
  reset(sub: string): void
}

const ID_PREFIXES: Record<FactorKind, string> = {
  otp: 'totp',
  sms: 'sms',
  voice: 'voice',
  email: 'email',
  push: 'push',
}

const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
// Without 0, 1, I and O, which people mix up when they copy a code from paper.
const CODE_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

function randomText(length: number, characters: string): string {
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('')
}

/** An id as hosted providers make them: what it is, and something random. */
function factorId(prefix: string): string {
  return `${prefix}|dev_${randomText(16, ID_CHARACTERS)}`
}

interface Holdings {
  readonly factors: Map<string, Factor>
  recovery: Recovery | undefined
}

function givenFactors({ otp, sms, voice, email, push }: MfaOptions): readonly NewFactor[] {
  if (typeof otp === 'string' && !isTotpSecret(otp)) {
    throw new DevProviderError('mfa: the secret of an authenticator app is base32, 16 characters or more.')
  }
  const reached = (kind: OobChannel, address: string | undefined): NewFactor[] =>
    address === undefined ? [] : [{ kind, address }]
  const app: NewFactor = { kind: 'otp', ...(typeof otp === 'string' ? { secret: otp } : {}) }
  const approval: NewFactor = { kind: 'push' }
  return [
    ...(otp === undefined ? [] : [app]),
    ...reached('sms', sms),
    ...reached('voice', voice),
    ...reached('email', email),
    ...(push ? [approval] : []),
  ]
}

/** The factors of all users of one provider, by subject identifier. */
export function createFactorDirectory(now: () => number): FactorDirectory {
  const people = new Map<string, Holdings>()

  const getHoldings = (sub: string): Holdings => {
    const existing = people.get(sub)
    if (existing) return existing
    const created: Holdings = { factors: new Map(), recovery: undefined }
    people.set(sub, created)
    return created
  }
  const renewRecovery = (sub: string): Recovery => {
    const recovery = { id: factorId('recovery-code'), code: randomText(24, CODE_CHARACTERS) }
    getHoldings(sub).recovery = recovery
    return recovery
  }
  const add: FactorDirectory['add'] = (sub, given) => {
    const factor: Factor = {
      id: factorId(ID_PREFIXES[given.kind]),
      ...given,
      ...(given.kind === 'otp' ? { secret: given.secret ?? createTotpSecret() } : {}),
      createdAt: now(),
      active: false,
    }
    getHoldings(sub).factors.set(factor.id, factor)
    return factor
  }
  const activate = (sub: string, factor: Factor): Factor => {
    const active: Factor = { ...factor, active: true }
    getHoldings(sub).factors.set(factor.id, active)
    return active
  }
  return {
    list: (sub) => [...(people.get(sub)?.factors.values() ?? [])],
    add,
    addAll: (sub, options) => {
      const factors = givenFactors(options).map((factor) => activate(sub, add(sub, factor)))
      if (factors.length > 0 && !getHoldings(sub).recovery) renewRecovery(sub)
      return factors
    },
    use: (sub, id) => {
      const factor = getHoldings(sub).factors.get(id)
      if (factor) getHoldings(sub).factors.set(id, { ...factor, active: true, lastUsedAt: now() })
    },
    remove: (sub, id) => {
      people.get(sub)?.factors.delete(id)
    },
    recovery: (sub) => people.get(sub)?.recovery,
    renewRecovery,
    reset: (sub) => {
      people.delete(sub)
    },
  }
}
