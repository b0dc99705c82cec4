import type { Config } from '../config/config.ts'
import type { MfaRequirements } from '../errors/mfa.ts'
import { MfaError } from '../errors/mfa.ts'
import type { Exchange } from '../http/exchange.ts'
import { decodeJsonObject } from '../lib/json.ts'
import { defined } from '../lib/objects.ts'
import { utf8 } from '../lib/utf8.ts'
import { provenSubject } from '../session/model/authentication.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { ClientParts, SessionStorage } from '../session/storage.ts'
import type { TokenRequest } from './token-request.ts'

/** The requested tokens that wait for another factor. */
export type RequestedToken = Pick<TokenRequest, 'wireParameters' | 'scope'>

/** The contents of an encrypted `mfa_token`. */
export interface MfaContext {
  /** The provider's own token. */
  readonly token: string
  readonly wanted: RequestedToken
  readonly requirements?: MfaRequirements
  /** Seconds since the epoch. */
  readonly createdAt: number
  /** The `sub` that the tokens must have, if known. */
  readonly subject?: string
  /**
   * Key of the session that it was created in; absent: outside a session, and its tokens go to the caller that
   * completes it.
   */
  readonly sessionKey?: string
  /** Tag of provider and client. */
  readonly clientTag: string
}

export async function sealMfaContext({ sealer }: ClientParts, context: MfaContext): Promise<string> {
  const { clientTag, createdAt, sessionKey, requirements, subject, token, wanted } = context
  const { audience, scope } = wanted.wireParameters
  const text = JSON.stringify({
    v: 1,
    t: token,
    a: audience,
    q: scope,
    w: wanted.scope,
    r: requirements,
    i: createdAt,
    u: subject,
    h: sessionKey,
    c: clientTag,
  })
  return sealer.seal('mfa', utf8(text))
}

const isText = (value: unknown): value is string => typeof value === 'string'

/* Whatever opens was written by this library; the checks are for other versions of it. */
function decode(bytes: Uint8Array | null): MfaContext | null {
  const { v, t, a, q, w, r, i, u, h, c } = decodeJsonObject(bytes) ?? {}
  if (v !== 1 || !isText(t) || !isText(w) || !isText(c) || typeof i !== 'number') return null
  const [audience, scope, subject, sessionKey] = [a, q, u, h].map((value) =>
    isText(value) ? value : undefined,
  )
  const wanted = { wireParameters: defined({ audience, scope }), scope: w }
  const requirements = r as MfaRequirements | undefined
  return defined({ token: t, wanted, requirements, createdAt: i, subject, sessionKey, clientTag: c })
}

/** Returns the context in an `mfa_token` of this client, also if it has expired. Throws `MfaError` `MFA_TOKEN_INVALID`. */
export async function openMfaContext(parts: ClientParts, sealed: string): Promise<MfaContext> {
  const context = decode(await parts.sealer.open('mfa', sealed))
  if (!context || context.clientTag !== (await parts.clientTag())) throw new MfaError('MFA_TOKEN_INVALID')
  return context
}

/**
 * Checks that the context may be used in this request. Returns the session in which it was created, or null without one. Throws
 * `MfaError`: `MFA_TOKEN_EXPIRED`; `MISSING_SESSION` where a session is needed and there is none; `MFA_TOKEN_INVALID` in
 * another session than its own.
 */
export async function admitMfaContext(
  { config, sessions }: { readonly config: Config; readonly sessions: SessionStorage },
  exchange: Exchange | null,
  { createdAt, sessionKey, subject }: MfaContext,
): Promise<StoredSession | null> {
  if (config.clock() >= createdAt + config.mfaTokenTtl) throw new MfaError('MFA_TOKEN_EXPIRED')
  if (sessionKey === undefined) return null
  const session = exchange && (await sessions.load(exchange))
  if (!session) throw new MfaError('MISSING_SESSION')
  if (session.sessionKey !== sessionKey || provenSubject(session) !== subject)
    throw new MfaError('MFA_TOKEN_INVALID')
  return session
}
