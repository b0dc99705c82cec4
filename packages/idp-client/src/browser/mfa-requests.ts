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
import { askRoute, toProperties } from './ask-route.ts'
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
  /** The property of the response that is returned; absent for a list. */
  readonly member?: string
}

async function ask<Body extends object>({ route, mfaToken, body, member }: Call): Promise<Body> {
  const json = 'application/json'
  const headers = {
    accept: json,
    authorization: `Bearer ${mfaToken}`,
    ...(body ? { 'content-type': json } : {}),
  }
  const isAnswer = (answer: unknown): answer is Body =>
    member ? member in toProperties(answer) : Array.isArray(answer)
  return askRoute(
    { route, name: 'MfaError', isAnswer },
    mfaUrl(route),
    body ? { method: 'POST', headers, body: JSON.stringify(snakeCased(body)) } : { headers },
  ).catch((error: RouteRequestError) => {
    if (error.code === 'MISSING_SESSION') reportFinal(error)
    throw error
  })
}

export async function getAuthenticators({ mfaToken }: MfaAuthenticatorsOptions): Promise<Authenticator[]> {
  const entries = await ask<object[]>({ route: 'mfaAuthenticators', mfaToken })
  return entries.map(camelCased) as Authenticator[]
}

export async function challenge(body: MfaChallengeOptions): Promise<MfaChallengeResult> {
  return camelCased(
    await ask({ route: 'mfaChallenge', mfaToken: body.mfaToken, body, member: 'challenge_type' }),
  ) as MfaChallengeResult
}

export async function enroll({ mfaToken, ...factor }: MfaEnrollOptions): Promise<MfaEnrollment> {
  const body = 'factorType' in factor ? toWireTypes(factor) : factor
  return camelCased(
    await ask({ route: 'mfaAssociate', mfaToken, body, member: 'authenticator_type' }),
  ) as MfaEnrollment
}

/** A factor in one word is a type, and for all but an authenticator app a channel. */
function toWireTypes<Factor extends { factorType: string }>({ factorType, ...rest }: Factor): object {
  return factorType === 'otp'
    ? { authenticatorTypes: ['otp'], ...rest }
    : { authenticatorTypes: ['oob'], oobChannels: [factorType], ...rest }
}

export async function verify({ mfaToken, ...proof }: MfaVerifyOptions): Promise<MfaVerified> {
  const verified = await ask<MfaVerified>({ route: 'mfaVerify', mfaToken, body: proof, member: 'success' })
  // The session has the tokens that were asked for in vain.
  forgetTokens()
  return verified
}
