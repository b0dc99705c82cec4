import type { Config } from '../../config/config.ts'
import { fieldName } from '../../errors/session.ts'
import { defined } from '../../lib/objects.ts'
import { utf8Length } from '../../lib/utf8.ts'
import type { AccessTokenSet, TokenSet } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'

/** Maximum size of the granted details of one token in cookies: bytes of their JSON. */
const MAX_DETAILS_BYTES = 1024

/** The granted details that a session was written without. */
interface LeftOutDetails {
  readonly bytes: number
  /** That of a further token. */
  readonly audience?: string
}

/** Returns a session without granted details of more than `most` bytes, and which they are. */
export function withoutDetails(
  session: StoredSession,
  most: number,
): { readonly session: StoredSession; readonly leftOut: readonly LeftOutDetails[] } {
  const leftOut: LeftOutDetails[] = []
  const limited = <Token extends TokenSet | AccessTokenSet>(token: Token, audience?: string): Token => {
    const { authorizationDetails, ...others } = token
    const bytes = authorizationDetails === undefined ? 0 : utf8Length(JSON.stringify(authorizationDetails))
    if (bytes <= most) return token
    leftOut.push(defined({ bytes, audience }))
    return others as Token
  }
  const { accessTokens, tokenSet } = session.data
  const data = { ...session.data, tokenSet: limited(tokenSet) }
  const further = accessTokens?.map((token) => limited(token, fieldName(token.audience)))
  return { session: { ...session, data: further ? { ...data, accessTokens: further } : data }, leftOut }
}

export function reportDetails({ log }: Config, leftOut: readonly LeftOutDetails[], limit: number): void {
  for (const details of leftOut)
    log.emit({ level: 'warn', code: 'AUTHORIZATION_DETAILS_LEFT_OUT', ...details, limit })
}

/** Returns a session for cookies: without granted details of more than `MAX_DETAILS_BYTES`, which are reported. */
export function withoutLargeDetails(config: Config, given: StoredSession): StoredSession {
  const { leftOut, session } = withoutDetails(given, MAX_DETAILS_BYTES)
  reportDetails(config, leftOut, MAX_DETAILS_BYTES)
  return session
}
