import type { Config } from '../../config/config.ts'
import { fieldName } from '../../errors/session.ts'
import { defined } from '../../lib/own-properties.ts'
import { utf8Length } from '../../lib/utf8.ts'
import type { AccessTokenSet, TokenSet } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'

/** Maximum size of the granted details of one token in cookies: bytes of their JSON. */
const MAX_DETAILS_BYTES = 1024

/** Returns a token without its granted details if these are too large; `audience` names a further token in the event. */
function limitDetails<Token extends TokenSet | AccessTokenSet>(
  { log }: Config,
  token: Token,
  audience?: string,
): Token {
  const { authorizationDetails, ...others } = token
  const bytes = authorizationDetails === undefined ? 0 : utf8Length(JSON.stringify(authorizationDetails))
  if (bytes <= MAX_DETAILS_BYTES) return token
  const limit = MAX_DETAILS_BYTES
  log.emit(defined({ level: 'warn', code: 'AUTHORIZATION_DETAILS_LEFT_OUT', bytes, limit, audience }))
  return others as Token
}

/** Returns a session for cookies: without granted details of more than `MAX_DETAILS_BYTES`, which are reported. */
export function withoutLargeDetails(config: Config, session: StoredSession): StoredSession {
  const { accessTokens, tokenSet } = session.data
  const further = accessTokens?.map((token) => limitDetails(config, token, fieldName(token.audience)))
  const limited = { ...session.data, tokenSet: limitDetails(config, tokenSet) }
  return { ...session, data: further ? { ...limited, accessTokens: further } : limited }
}
