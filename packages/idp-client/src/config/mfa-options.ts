import { IdpError } from '../errors/base.ts'
import { defined, isObject } from '../lib/objects.ts'
import { isNonBlankString } from '../lib/strings.ts'
import type { MfaChallengeOptions, MfaOobChannel } from './mfa.ts'

/** The options of an operation of `idp.mfa`, from code or a route: checked here before anything is sent. */
type Given = { readonly [option: string]: unknown }

const given = (options: unknown): Given => (isObject(options) ? options : {})

function wrong(what: string): IdpError<'INVALID_REQUEST'> {
  return new IdpError('INVALID_REQUEST', { detail: `Option: ${what}.` })
}

/** Characters of any one option; what users type and providers hand out is far shorter. */
const LONGEST = 8192

function isFilled(value: unknown): value is string {
  return isNonBlankString(value) && value.length <= LONGEST
}

function optional(options: Given, name: string): string | undefined {
  const value = options[name]
  if (value === undefined || value === null) return undefined
  if (isFilled(value)) return value
  throw wrong(`${name} (a non-blank string)`)
}

/** The encrypted token. An empty one comes with an error that leaves nothing but a new login. */
export function readMfaToken(options: unknown): string {
  const { mfaToken } = given(options)
  if (typeof mfaToken === 'string' && mfaToken !== '') return mfaToken
  throw wrong('mfaToken (the mfa_token of an MfaRequiredError)')
}

export type ChallengeRequest = Omit<MfaChallengeOptions, 'mfaToken'>

export function readChallenge(options: unknown): ChallengeRequest {
  const { challengeType } = given(options)
  if (challengeType !== 'otp' && challengeType !== 'oob') throw wrong('challengeType (otp or oob)')
  const authenticatorId = optional(given(options), 'authenticatorId')
  return defined({ challengeType, authenticatorId })
}

const CHANNELS: ReadonlySet<unknown> = new Set<MfaOobChannel>(['sms', 'voice', 'email', 'push'])
const isChannel = (value: unknown): value is MfaOobChannel => CHANNELS.has(value)

type Factor =
  | { readonly type: 'otp'; readonly channels?: never }
  | { readonly type: 'oob'; readonly channels: readonly [MfaOobChannel, ...MfaOobChannel[]] }

/** A factor to enrol. */
export type EnrollmentRequest = Factor & { readonly phoneNumber?: string; readonly email?: string }

function listedFactor({ authenticatorTypes: types, oobChannels: channels }: Given): Factor {
  const [type, ...more]: unknown[] = Array.isArray(types) ? types : []
  if (more.length > 0 || (type !== 'otp' && type !== 'oob')) {
    throw wrong('authenticatorTypes (["otp"] or ["oob"])')
  }
  if (type === 'otp') return { type }
  const [first, ...others]: unknown[] = Array.isArray(channels) ? channels : []
  if (!isChannel(first) || !others.every(isChannel)) {
    throw wrong('oobChannels (a list of sms, voice, email, push)')
  }
  return { type, channels: [first, ...others] }
}

/** Two options set the same value; if both are given, it is ambiguous. */
function readFactor(options: Given): Factor {
  const { authenticatorTypes, factorType, oobChannels } = options
  if (factorType === undefined) return listedFactor(options)
  if (authenticatorTypes !== undefined || oobChannels !== undefined) {
    throw wrong('factorType (not together with authenticatorTypes or oobChannels)')
  }
  if (factorType === 'otp') return { type: 'otp' }
  if (!isChannel(factorType)) throw wrong('factorType (otp, sms, voice, email or push)')
  return { type: 'oob', channels: [factorType] }
}

export function readEnrollment(options: unknown): EnrollmentRequest {
  const all = given(options)
  const factor = readFactor(all)
  const phoneNumber = optional(all, 'phoneNumber')
  const email = optional(all, 'email')
  const needsPhone = factor.channels?.some((channel) => channel === 'sms' || channel === 'voice')
  if (needsPhone && phoneNumber === undefined) throw wrong('phoneNumber (needed for sms and voice)')
  return defined({ ...factor, phoneNumber, email })
}

/** The proof of a factor. */
export type FactorProof =
  | { readonly kind: 'otp'; readonly otp: string }
  | { readonly kind: 'oob'; readonly oobCode: string; readonly bindingCode?: string }
  | { readonly kind: 'recovery-code'; readonly recoveryCode: string }

export function readProof(options: unknown): FactorProof {
  const all = given(options)
  const otp = optional(all, 'otp')
  const oobCode = optional(all, 'oobCode')
  const recoveryCode = optional(all, 'recoveryCode')
  const bindingCode = optional(all, 'bindingCode')
  if (bindingCode !== undefined && oobCode === undefined) throw wrong('bindingCode (only with oobCode)')
  const proofs: FactorProof[] = []
  if (otp !== undefined) proofs.push({ kind: 'otp', otp })
  if (oobCode !== undefined) {
    proofs.push({ kind: 'oob', oobCode, ...(bindingCode === undefined ? {} : { bindingCode }) })
  }
  if (recoveryCode !== undefined) proofs.push({ kind: 'recovery-code', recoveryCode })
  const [proof, ...more] = proofs
  if (!proof || more.length > 0) throw wrong('otp, oobCode or recoveryCode (exactly one of them)')
  return proof
}
