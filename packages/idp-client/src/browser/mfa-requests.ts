import type {
  Authenticator,
  MfaAuthenticatorsOptions,
  MfaChallengeOptions,
  MfaChallengeResult,
  MfaEnrollment,
  MfaEnrollOptions,
  MfaVerified,
  MfaVerifyOptions,
} from '../config/mfa.ts'
import { askRoute, membersOf } from './ask-route.ts'
import type { MfaRoute } from './mfa-routes.ts'
import { mfaUrl } from './mfa-routes.ts'
import type { RouteRequestError } from './request-error.ts'
import { forgetTokens } from './token-epoch.ts'
import { reportFinal } from './watcher.ts'

function renamed(value: object, rename: (name: string) => string): object {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]))
}

/** `oob_code` of the wire is `oobCode` of the API. */
const camelCased = (value: object): object =>
  renamed(value, (name) => name.replace(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase()))

const snakeCased = (value: object): object =>
  renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

interface Call {
  readonly route: MfaRoute
  readonly mfaToken: string
  /** Makes it a POST. */
  readonly body?: object
  /** What the answer must have to be one. */
  readonly isAnswer: (body: unknown) => boolean
}

async function ask<Body extends object>({ route, mfaToken, body, isAnswer }: Call): Promise<Body> {
  const headers = { accept: 'application/json', authorization: `Bearer ${mfaToken}` }
  const json = { ...headers, 'content-type': 'application/json' }
  return askRoute<Body>(
    { route, name: 'MfaError', isAnswer: (answer): answer is Body => isAnswer(answer) },
    mfaUrl(route),
    body ? { method: 'POST', headers: json, body: JSON.stringify(snakeCased(body)) } : { headers },
  ).catch((error: RouteRequestError) => {
    if (error.code === 'MISSING_SESSION') reportFinal(error)
    throw error
  })
}

export async function getAuthenticators({ mfaToken }: MfaAuthenticatorsOptions): Promise<Authenticator[]> {
  const route = 'mfaAuthenticators'
  const entries = await ask<object[]>({ route, mfaToken, isAnswer: Array.isArray })
  return entries.map(camelCased) as Authenticator[]
}

export async function challenge(options: MfaChallengeOptions): Promise<MfaChallengeResult> {
  const { mfaToken } = options
  const isAnswer = (body: unknown): boolean => 'challenge_type' in membersOf(body)
  return camelCased(
    await ask({ route: 'mfaChallenge', mfaToken, body: options, isAnswer }),
  ) as MfaChallengeResult
}

export async function enroll({ mfaToken, ...factor }: MfaEnrollOptions): Promise<MfaEnrollment> {
  const isAnswer = (body: unknown): boolean => 'authenticator_type' in membersOf(body)
  const body = 'factorType' in factor ? typesOf(factor) : factor
  return camelCased(await ask({ route: 'mfaAssociate', mfaToken, body, isAnswer })) as MfaEnrollment
}

/** A factor in one word is a type, and for all but an authenticator app a channel. */
function typesOf<Factor extends { factorType: string }>({ factorType, ...rest }: Factor): object {
  return factorType === 'otp'
    ? { authenticatorTypes: ['otp'], ...rest }
    : { authenticatorTypes: ['oob'], oobChannels: [factorType], ...rest }
}

export async function verify({ mfaToken, ...proof }: MfaVerifyOptions): Promise<MfaVerified> {
  const isAnswer = (body: unknown): boolean => membersOf<'success'>(body).success === true
  const verified = await ask<MfaVerified>({ route: 'mfaVerify', mfaToken, body: proof, isAnswer })
  // The session has the tokens that were asked for in vain.
  forgetTokens()
  return verified
}
