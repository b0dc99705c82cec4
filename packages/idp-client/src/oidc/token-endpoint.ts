import type { OAuthError } from '../errors/provider.ts'
import type { Operation } from './call.ts'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { Answer } from './translate.ts'
import { invalidResponse } from './translate.ts'

/** A successful answer of the token endpoint: `access_token` and `token_type` are checked, the rest is as it came. */
export interface TokenAnswer {
  readonly body: JsonObject
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
}

export interface TokenRequest {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  /** The exact redirect URI of a code exchange: `openid-client` normalises it and drops its query. */
  readonly redirectUri?: string
  /** The token is one of another issuer, which this client's keys mean nothing to: it may be a Bearer token. */
  readonly upstream?: boolean
  readonly signal?: AbortSignal
}

/** The user has not decided yet: on another device, that is. Part of the protocol. */
export const isPending = ({ error }: OAuthError): boolean =>
  error === 'authorization_pending' || error === 'slow_down'

/** What `openid-client` is to see of a grant: it refuses odd values of members that are read leniently here. */
function presentable(response: Response, { body, status }: Answer): Response {
  if (!body || status !== 200) return response
  const { access_token, token_type } = body
  return new Response(JSON.stringify({ access_token, token_type }), { headers: response.headers })
}

const tokenTypes: ReadonlyMap<string, TokenAnswer['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

function read(answer: Answer, mustBeBound: boolean): TokenAnswer {
  const { body } = answer
  if (!body) throw invalidResponse('It is no JSON object.', answer, 'RESPONSE_NOT_OAUTH')
  const accessToken = stringMember(body, 'access_token')
  if (accessToken === undefined) throw invalidResponse('access_token is missing.', answer)
  const tokenType = tokenTypes.get(stringMember(body, 'token_type')?.toLowerCase() ?? '')
  if (!tokenType) throw invalidResponse('token_type is missing or neither Bearer nor DPoP.', answer)
  if (mustBeBound && tokenType !== 'DPoP') {
    const detail = 'token_type is Bearer, although useDPoP is on.'
    throw invalidResponse(detail, answer, 'DPOP_NOT_ENABLED')
  }
  return { body, accessToken, tokenType }
}

/** Sends one token request: `grant` calls `openid-client` with what it is given. Throws as `call` does. */
export async function requestTokens(request: TokenRequest, grant: Operation): Promise<TokenAnswer> {
  const { redirectUri, upstream, ...rest } = request
  const mustBeBound = request.provider.config.dpop.enabled && !upstream
  const amend = (form: URLSearchParams): void => {
    if (redirectUri !== undefined) form.set('redirect_uri', redirectUri)
  }
  return call({ ...rest, endpoint: 'tokenEndpoint', amend, present: presentable }, grant, (answer) =>
    read(answer, mustBeBound),
  )
}
