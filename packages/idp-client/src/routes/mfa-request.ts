import type { Engine } from '../engine.ts'
import { MfaError } from '../errors/mfa.ts'
import { belongsToSession } from '../flows/mfa.ts'
import type { RequestView } from '../http/exchange.ts'

/** The encrypted token of an `Authorization` header (RFC 6750 section 2.1); empty when there is none. */
export function bearerToken({ headers }: RequestView): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? ''
}

/**
 * A token that was asked for outside a session belongs to code, which gets what it is for; a route would hand that to
 * the browser. Throws `MFA_TOKEN_INVALID`.
 */
export async function checkOfSession(engine: Engine, mfaToken: unknown): Promise<void> {
  if (!(await belongsToSession(engine, { mfaToken }))) throw new MfaError('MFA_TOKEN_INVALID')
}

/** The same with the names of the wire: `oobCode` is `oob_code`. */
export function snakeCased(value: object): Record<string, unknown> {
  const rename = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]))
}
