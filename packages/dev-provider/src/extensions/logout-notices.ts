import { randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import type { SignOptions } from '../keys.ts'
import type { ProviderState } from '../oidc/state.ts'

/** One logout token that was posted to an application (OpenID Connect Back-Channel Logout 1.0). */
export interface LogoutNotice {
  readonly clientId: string
  readonly url: string
  readonly token: string
  /** Status of the application's response; absent if it could not be reached. */
  readonly status?: number
}

export interface LogoutSubject {
  readonly sub?: string
  readonly sid?: string
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const TIMEOUT_MS = 5000

/** Claims of a correct logout token (section 2.4); tests change them to make a wrong one. */
export function logoutClaims(
  state: ProviderState,
  clientId: string,
  subject: LogoutSubject,
): Record<string, unknown> {
  const now = state.clock.now()
  return {
    iss: state.issuer,
    aud: clientId,
    iat: now,
    ...(state.settings.logoutTokenExp ? { exp: now + 120 } : {}),
    jti: randomUUID(),
    events: { [EVENT]: {} },
    ...subject,
  }
}

/** Signs a logout token like the client's ID tokens. */
export function signLogoutToken(
  state: ProviderState,
  clientId: string,
  claims: Record<string, unknown>,
  options: SignOptions = {},
): Promise<string> {
  return state.keys.sign(claims, {
    alg: state.clients.find(clientId)?.options.idTokenSigningAlg ?? 'RS256',
    ...options,
    header: { typ: 'logout+jwt', ...options.header },
  })
}

/** The logout token that oidc-provider made, without `exp` where the settings want that. */
export async function forwardedLogoutToken(
  state: ProviderState,
  clientId: string,
  token: string,
): Promise<string> {
  if (state.settings.logoutTokenExp) return token
  const { exp: _left, ...claims } = decodeJwt(token)
  return signLogoutToken(state, clientId, claims)
}

async function post(url: string, token: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return undefined
  }
}

/** Posts a logout token to every application of the client; an unreachable one delays nobody else. */
export async function postLogoutToken(
  state: ProviderState,
  clientId: string,
  token: string,
): Promise<readonly LogoutNotice[]> {
  const urls = [...(state.clients.find(clientId)?.backChannelLogoutUris ?? [])]
  const notices = await Promise.all(
    urls.map(async (url): Promise<LogoutNotice> => {
      const status = await post(url, token)
      state.log(`back-channel logout ${url}: ${status ?? 'not reached'}`)
      return { clientId, url, token, ...(status === undefined ? {} : { status }) }
    }),
  )
  state.logoutNotices.push(...notices)
  return notices
}

/** Ends one browser session at the provider and tells every application that took part in it. */
export async function endProviderSession(state: ProviderState, sessionId: string): Promise<void> {
  const session = state.store.find('Session', sessionId)
  if (!session) return
  state.store.destroy('Session', sessionId)
  const sub = session.accountId
  if (sub === undefined) return
  await Promise.all(
    Object.entries(session.authorizations ?? {}).map(async ([clientId, { sid }]) => {
      const subject = sid === undefined ? { sub } : { sub, sid }
      await postLogoutToken(
        state,
        clientId,
        await signLogoutToken(state, clientId, logoutClaims(state, clientId, subject)),
      )
    }),
  )
}
