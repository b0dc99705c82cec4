import type { RouteKey } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import { MfaError } from '../errors/mfa.ts'
import { belongsToSession, challenge, enroll, getAuthenticators, verify } from '../flows/mfa.ts'
import type { RequestView } from '../http/exchange.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import type { RouteHandler } from './route.ts'

export type MfaRouteKey = Extract<RouteKey, `mfa${string}`>

/** Returns the encrypted token of an `Authorization` header (RFC 6750 section 2.1), or an empty string. */
function bearerToken({ headers }: RequestView): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/**
 * Rejects an `mfa_token` without a session: its tokens are returned to server code, and a route would expose them to
 * the browser. Throws `MFA_TOKEN_INVALID`.
 */
async function assertSessionToken(engine: Engine, mfaToken: unknown): Promise<void> {
  if (!(await belongsToSession(engine, { mfaToken }))) throw new MfaError('MFA_TOKEN_INVALID')
}

/** Converts property names to the wire format: `oobCode` to `oob_code`. */
function toSnakeCase(value: object): Record<string, unknown> {
  const rename = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]))
}

const mfaAuthenticators: RouteHandler = {
  async handle(engine, { exchange }) {
    const mfaToken = bearerToken(exchange.request)
    await assertSessionToken(engine, mfaToken)
    const authenticators = await getAuthenticators(engine, exchange, { mfaToken })
    return json(200, authenticators.map(toSnakeCase))
  },
  fail: failWithFlatJson,
}

const mfaChallenge: RouteHandler = {
  async handle(engine, { exchange }) {
    const { authenticator_id, challenge_type, mfa_token } = await exchange.request.json()
    await assertSessionToken(engine, mfa_token)
    const options = { mfaToken: mfa_token, challengeType: challenge_type, authenticatorId: authenticator_id }
    return json(200, toSnakeCase(await challenge(engine, exchange, options)))
  },
  fail: failWithFlatJson,
}

const mfaAssociate: RouteHandler = {
  async handle(engine, { exchange }) {
    const { authenticator_types, email, oob_channels, phone_number } = await exchange.request.json()
    const mfaToken = bearerToken(exchange.request)
    await assertSessionToken(engine, mfaToken)
    const options = {
      mfaToken,
      authenticatorTypes: Array.isArray(authenticator_types) ? authenticator_types.slice(0, 1) : undefined,
      oobChannels: oob_channels,
      phoneNumber: phone_number,
      email,
    }
    return json(200, toSnakeCase(await enroll(engine, exchange, options)))
  },
  fail: failWithFlatJson,
}

const mfaVerify: RouteHandler = {
  async handle(engine, { exchange }) {
    const { binding_code, oob_code, otp, recovery_code } = await exchange.request.json()
    const mfaToken = bearerToken(exchange.request)
    await assertSessionToken(engine, mfaToken)
    const options = {
      mfaToken,
      otp,
      oobCode: oob_code,
      bindingCode: binding_code,
      recoveryCode: recovery_code,
    }
    const { recovery_code: replacement, success } = await verify(engine, exchange, options)
    return json(200, { success, ...(replacement === undefined ? {} : { recovery_code: replacement }) })
  },
  fail: failWithFlatJson,
}

/** The routes of multi-factor authentication, by their keys in the table. */
export const mfaRoutes: Readonly<Record<MfaRouteKey, RouteHandler>> = {
  mfaAssociate,
  mfaAuthenticators,
  mfaChallenge,
  mfaVerify,
}
