import type { RouteKey } from '../config/config.ts'
import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { describe } from '../errors/diagnosis.ts'
import { MfaError } from '../errors/mfa.ts'
import { isInvalidGrant } from '../errors/provider.ts'
import { belongsToSession, challenge, enroll, getAuthenticators, verify } from '../flows/mfa.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'
import { json } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { mfaRequiredJson } from './fail-with-json.ts'
import type { RouteHandler } from './route.ts'
import { isOAuthError, toStatus } from './status.ts'

export type MfaRouteKey = Extract<RouteKey, `mfa${string}`>

/** Returns the encrypted token of an `Authorization` header (RFC 6750 section 2.1), or an empty string. */
function bearerToken({ headers }: RequestView): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/** Converts property names to the wire format: `oobCode` to `oob_code`. */
function toSnakeCase(value: object): Record<string, unknown> {
  const rename = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]))
}

/**
 * Returns the provider's error code if it decided (`invalid_grant` for a wrong code, `authorization_pending` …),
 * otherwise ours.
 */
function toErrorCode({ cause, code }: IdpError, status: number): string {
  const oauthError = isOAuthError(cause) ? cause.error : undefined
  // A failing provider, or a gateway in front of it, may respond with `invalid_grant`, too.
  const isDecision = oauthError !== 'invalid_grant' || isInvalidGrant(cause)
  if (isDecision && oauthError !== undefined) return oauthError
  return status === 500 ? 'server_error' : code.toLowerCase()
}

/**
 * Responds with `{"error","error_description","code"}`, as OAuth errors do (RFC 6749 section 5.2); descriptions are our
 * own.
 */
function fail(error: IdpError): Response {
  const { code } = error
  const status = toStatus(error)
  // The detail names the invalid parameter, which the caller needs to know.
  const description = code === 'INVALID_REQUEST' ? describe(error) : codes[code].message
  const body = { error: toErrorCode(error, status), error_description: description, code }
  return mfaRequiredJson(error) ?? json(status, body)
}

/** Creates the handler of a flow; `readOptions` reads its options from the request. */
function route(
  readOptions: (request: RequestView) => Promise<{ readonly mfaToken: unknown }>,
  flow: (engine: Engine, exchange: Exchange, options: unknown) => Promise<object>,
): RouteHandler {
  return {
    async handle(engine, { exchange }) {
      const options = await readOptions(exchange.request)
      // The tokens of an `mfa_token` without a session are returned to server code: a route would expose them to the browser.
      if (!(await belongsToSession(engine, options))) throw new MfaError('MFA_TOKEN_INVALID')
      const result = await flow(engine, exchange, options)
      return json(200, Array.isArray(result) ? result.map(toSnakeCase) : toSnakeCase(result))
    },
    fail,
  }
}

/** The routes of multi-factor authentication, by their keys in the table. */
export const mfaRoutes: Readonly<Record<MfaRouteKey, RouteHandler>> = {
  mfaAuthenticators: route(async (request) => ({ mfaToken: bearerToken(request) }), getAuthenticators),

  mfaChallenge: route(async (request) => {
    const { authenticator_id, challenge_type, mfa_token } = await request.json()
    return { mfaToken: mfa_token, challengeType: challenge_type, authenticatorId: authenticator_id }
  }, challenge),

  mfaAssociate: route(async (request) => {
    const { authenticator_types, email, oob_channels, phone_number } = await request.json()
    return {
      mfaToken: bearerToken(request),
      authenticatorTypes: Array.isArray(authenticator_types) ? authenticator_types.slice(0, 1) : undefined,
      oobChannels: oob_channels,
      phoneNumber: phone_number,
      email,
    }
  }, enroll),

  mfaVerify: route(
    async (request) => {
      const { binding_code, oob_code, otp, recovery_code } = await request.json()
      const mfaToken = bearerToken(request)
      return { mfaToken, otp, oobCode: oob_code, bindingCode: binding_code, recoveryCode: recovery_code }
    },
    async (...args) => {
      const { recovery_code, success } = await verify(...args)
      return defined({ success, recovery_code })
    },
  ),
}
