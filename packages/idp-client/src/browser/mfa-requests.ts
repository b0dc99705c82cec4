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
import { requestRoute, toProperties } from './ask-route.ts'
import type { MfaRoute } from './mfa-routes.ts'
import { mfaUrl } from './mfa-routes.ts'
import { forgetTokens } from './page-state.ts'
import type { RouteRequestError } from './request-error.ts'
import { reportFinal } from './watcher.ts'

function renameProperties(value: object, rename: (name: string) => string): object {
  return Object.fromEntries(Object.entries(value).map(([name, property]) => [rename(name), property]))
}

/** Converts property names of the wire format: `oob_code` to `oobCode`. */
const toCamelCase = (value: object): object =>
  renameProperties(value, (name) => name.replace(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase()))

const toSnakeCase = (value: object): object =>
  renameProperties(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))

interface Call {
  readonly route: MfaRoute
  readonly mfaToken: string
  /** JSON body; makes it a POST. */
  readonly body?: object
  /** Property that identifies a valid response; absent if the response is an array. */
  readonly key?: string
}

async function call<Body extends object>({ route, mfaToken, body, key }: Call): Promise<Body> {
  const json = 'application/json'
  const headers = {
    accept: json,
    authorization: `Bearer ${mfaToken}`,
    ...(body ? { 'content-type': json } : {}),
  }
  const isValid = (value: unknown): value is Body => (key ? key in toProperties(value) : Array.isArray(value))
  return requestRoute(
    { route, name: 'MfaError', isValid },
    mfaUrl(route),
    body ? { method: 'POST', headers, body: JSON.stringify(toSnakeCase(body)) } : { headers },
  ).catch((error: RouteRequestError) => {
    if (error.code === 'MISSING_SESSION' || error.code === 'SESSION_EXPIRED') reportFinal(error)
    throw error
  })
}

export async function getAuthenticators({ mfaToken }: MfaAuthenticatorsOptions): Promise<Authenticator[]> {
  const entries = await call<object[]>({ route: 'mfaAuthenticators', mfaToken })
  return entries.map(toCamelCase) as Authenticator[]
}

export async function challenge(body: MfaChallengeOptions): Promise<MfaChallengeResult> {
  return toCamelCase(
    await call({ route: 'mfaChallenge', mfaToken: body.mfaToken, body, key: 'challenge_type' }),
  ) as MfaChallengeResult
}

export async function enroll({ mfaToken, ...factor }: MfaEnrollOptions): Promise<MfaEnrollment> {
  const body = 'factorType' in factor ? toWireTypes(factor) : factor
  return toCamelCase(
    await call({ route: 'mfaAssociate', mfaToken, body, key: 'authenticator_type' }),
  ) as MfaEnrollment
}

/**
 * Converts a `factorType` to the authenticator type of the wire format, and to its channel unless it is an
 * authenticator app.
 */
function toWireTypes<Factor extends { factorType: string }>({ factorType, ...rest }: Factor): object {
  return factorType === 'otp'
    ? { authenticatorTypes: ['otp'], ...rest }
    : { authenticatorTypes: ['oob'], oobChannels: [factorType], ...rest }
}

export async function verify({ mfaToken, ...proof }: MfaVerifyOptions): Promise<MfaVerified> {
  const verified = await call<MfaVerified>({ route: 'mfaVerify', mfaToken, body: proof, key: 'success' })
  // The session now has the tokens of the refused request.
  forgetTokens()
  return verified
}
