import { decodePart, fingerprint } from './settings.mjs'

/** Describes a session for the scenarios, with fingerprints in place of tokens. */
function describeSession(session) {
  if (!session) return { sub: null }
  const { internal, tokenSet, user } = session
  const idToken = tokenSet.idToken ? decodePart(tokenSet.idToken, 1) : {}
  return {
    sub: user.sub,
    sid: internal.sid,
    roles: user.realm_access?.roles,
    groups: user.groups?.length,
    refreshToken: tokenSet.refreshToken && fingerprint(tokenSet.refreshToken),
    scope: tokenSet.scope,
    ...(tokenSet.idToken ? { signature: decodePart(tokenSet.idToken, 0) } : {}),
    authTime: idToken.auth_time,
    acr: idToken.acr,
  }
}

function describeToken({ token, expiresAt, scope, token_type: type }) {
  const { cnf } = token.split('.').length === 3 ? decodePart(token, 1) : {}
  return {
    token: fingerprint(token),
    expiresAt,
    scope,
    type,
    bound: cnf?.jkt !== undefined || cnf?.['x5t#S256'] !== undefined,
  }
}

const operations = {
  whoami: async (idp) => describeSession(await idp.getSession()),
  token: async (idp, { refresh }) =>
    describeToken(await idp.getAccessToken(refresh === undefined ? {} : { refresh: true })),
  userinfo: async (idp) => idp.getUserInfo(),
  revoke: async (idp) => ({ revoked: await idp.revokeRefreshToken() }),
  async exchange(idp, options) {
    const { token } = await idp.getAccessToken()
    const result = await idp.customTokenExchange({
      subjectToken: token,
      subjectTokenType: 'urn:ietf:params:oauth:token-type:access_token',
      ...options,
    })
    const { aud, sub } = decodePart(result.accessToken, 1)
    return { sub, audiences: [aud].flat(), type: result.tokenType, isNew: result.accessToken !== token }
  },
  async approve(idp, { user }) {
    const { idTokenClaims, tokenSet } = await idp.getTokenByBackchannelAuth({
      bindingMessage: 'Interop-42',
      loginHint: user,
      authorizationParams: { scope: 'openid profile' },
    })
    return { sub: idTokenClaims.sub, name: idTokenClaims.preferred_username, expiresAt: tokenSet.expiresAt }
  },
}

const headers = { 'cache-control': 'private, no-store' }

/** A response that says which error of the library it was. */
export function respondToError(error) {
  const { code, cause, message } = error
  const body = { code: code ?? error.name, error: cause?.error, cause: cause?.code, message }
  return Response.json(body, { status: 500, headers })
}

/** Runs the operation that a path like `/token` names; its query is the input. */
export async function respond(idp, request) {
  const { pathname, searchParams } = new URL(request.url)
  const operation = operations[pathname.slice(1)]
  if (!operation) return new Response('nothing here', { status: 404 })
  try {
    return Response.json((await operation(idp, Object.fromEntries(searchParams))) ?? null, { headers })
  } catch (error) {
    return respondToError(error)
  }
}
