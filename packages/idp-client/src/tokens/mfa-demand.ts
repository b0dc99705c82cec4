import { isIdpError } from '../errors/base.ts'
import type { MfaChallenge } from '../errors/error-state.ts'
import { getMfaChallenge } from '../errors/error-state.ts'
import { MfaRequiredError } from '../errors/mfa.ts'
import { defined } from '../lib/objects.ts'
import { provenSubject } from '../session/model/authentication.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { ClientParts } from '../session/storage.ts'
import type { RequestedToken } from './mfa-context.ts'

/** The origin of a token request to which the provider responded `mfa_required`. */
export interface MfaOrigin {
  readonly wanted: RequestedToken
  /** Absent: the request belongs to no session. */
  readonly session?: StoredSession
  /** The `sub` that the tokens must have, if there is no session. */
  readonly subject?: string
}

/** Returns the `mfa_token` of a challenge, bound to the session of its origin. */
async function sealChallenge(
  parts: ClientParts,
  { token, requirements }: MfaChallenge,
  { session, subject: known, wanted }: MfaOrigin,
): Promise<string> {
  // Without a token of the provider the user has to log in again.
  if (token === undefined) return ''
  // Loaded on first use: few applications need it.
  const { sealMfaContext } = await import('./mfa-context.ts')
  const subject = session ? provenSubject(session) : known
  const context = defined({ token, wanted, requirements, subject, sessionKey: session?.sessionKey })
  const now = { createdAt: parts.config.clock(), clientTag: await parts.clientTag() }
  return sealMfaContext(parts, { ...context, ...now })
}

/** Returns the provider's error, which may be the cause of another one, and its challenge. */
function findDemand(thrown: unknown): { cause: unknown; challenge: MfaChallenge } | null {
  for (const cause of [thrown, isIdpError(thrown) ? thrown.cause : undefined]) {
    const challenge = getMfaChallenge(cause)
    if (challenge) return { cause, challenge }
  }
  return null
}

/**
 * Returns an `MfaRequiredError` with a context of its own if the provider requires another factor, otherwise `thrown`.
 */
export async function orMfaRequired(
  parts: ClientParts,
  thrown: unknown,
  origin: MfaOrigin,
): Promise<unknown> {
  const demand = findDemand(thrown)
  if (!demand) return thrown
  const { cause, challenge } = demand
  const { requirements } = challenge
  const mfaToken = await sealChallenge(parts, challenge, origin)
  return new MfaRequiredError(defined({ mfaToken, requirements }), { cause })
}
