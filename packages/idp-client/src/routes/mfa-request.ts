import type { Engine } from '../engine.ts'
import { MfaError } from '../errors/mfa.ts'
import { belongsToSession } from '../flows/mfa.ts'
import type { RequestView } from '../http/exchange.ts'

/** Returns the encrypted token of an `Authorization` header (RFC 6750 section 2.1), or an empty string. */
export function bearerToken({ headers }: RequestView): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/**
 * Rejects an `mfa_token` without a session: its tokens are returned to server code, and a route would expose them to
 * the browser. Throws `MFA_TOKEN_INVALID`.
 */
export async function assertSessionToken(engine: Engine, mfaToken: unknown): Promise<void> {
  if (!(await belongsToSession(engine, { mfaToken }))) throw new MfaError('MFA_TOKEN_INVALID')
}

/** Converts property names to the wire format: `oobCode` to `oob_code`. */
export function toSnakeCase(value: object): Record<string, unknown> {
  const rename = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]))
}
