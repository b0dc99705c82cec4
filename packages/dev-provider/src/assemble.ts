import { randomUUID } from 'node:crypto'
import { createBrowser } from './browser/browse.ts'
import { createCookieJar } from './browser/cookie-jar.ts'
import { logIn } from './browser/login.ts'
import type { Authority } from './certificates.ts'
import type { Client, RegisteredClient } from './clients.ts'
import type { DevProvider } from './dev-provider.ts'
import { toEnvironment } from './environment.ts'
import { DevProviderError } from './error.ts'
import { createAccounts } from './extensions/accounts/accounts.ts'
import { createCiba } from './extensions/ciba.ts'
import { noteAccessToken } from './extensions/jwt-introspection.ts'
import { endProviderSession, logoutClaims, signLogoutToken } from './extensions/logout-notices.ts'
import { createMfa } from './extensions/mfa/mfa.ts'
import { totp } from './extensions/mfa/totp.ts'
import type { Front } from './front.ts'
import { publicJwks } from './keys.ts'
import type { Listening } from './listen.ts'
import type { ProviderState } from './oidc/state.ts'
import { CERTIFICATE_API_PATH } from './wire/endpoints.ts'
import type { Changes } from './wire/rewrites.ts'

export interface Parts {
  readonly appBaseUrl: string | undefined
  readonly front: Front
  readonly client: Client
  readonly keyClient: Client
  readonly listening: Listening
  readonly authority: Authority | undefined
}

/** The public face of a provider over its parts. */
export function assemble(parts: Parts): DevProvider {
  const { front, client, keyClient, listening, authority } = parts
  const { state } = front
  if (keyClient.privateKey === undefined) throw new DevProviderError('The key client has no key.')
  return {
    issuer: state.issuer,
    origin: new URL(state.issuer).origin,
    port: listening.port,
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    keyClient: { ...toCredentials(keyClient), privateKey: keyClient.privateKey },
    env: toEnvironment({
      issuer: state.issuer,
      client,
      appBaseUrl: parts.appBaseUrl,
      caPath: authority?.caPath,
    }),
    ca: authority?.ca,
    caPath: authority?.caPath,
    mtls: mutualTls(parts),
    settings: state.settings,
    ...browsing(parts),
    ...observation(parts),
    ...time(state),
    ...registration(state, client),
    ...loggingOut(state, client),
    ciba: createCiba(state),
    accounts: createAccounts(state),
    mfa: createMfa(state),
    stop: async () => {
      state.clock.dispose()
      await listening.close()
      await authority?.remove()
      state.keys.release()
    },
  }
}

function mutualTls({ authority, front }: Parts): DevProvider['mtls'] {
  const { certificateOrigin: origin } = front.state
  if (origin === undefined || !authority) return undefined
  return { origin, api: origin + CERTIFICATE_API_PATH, issue: (options) => authority.issueToClient(options) }
}

function toCredentials(client: Client): RegisteredClient {
  const { clientId, clientSecret, privateKey, privateKeyAlg } = client
  return {
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(privateKeyAlg === undefined ? {} : { privateKeyAlg }),
  }
}

function browsing({ front, authority }: Parts): Pick<DevProvider, 'login' | 'visit' | 'createJar'> {
  const { issuer, clock, mfa, users } = front.state
  const browser = createBrowser(new URL(issuer).origin, authority?.ca, (account, shown) => {
    const factors = mfa.factors.list(users.find(account)?.sub ?? '')
    const secret = shown ?? factors.find((factor) => factor.active && factor.kind === 'otp')?.secret
    if (secret === undefined) throw new DevProviderError('The user has no authenticator app.')
    return totp(secret, clock.now())
  })
  return {
    login: (url, options = {}) => logIn(browser, url, options),
    visit: (url, options) => browser.visit(url, options),
    createJar: createCookieJar,
  }
}

type Observation = Pick<DevProvider, 'requests' | 'count' | 'clearRequests' | 'faults'> & Changes

function observation({ front, listening }: Parts): Observation {
  const { log, faults, rewrites } = front
  const { apply: _apply, clear, ...changes } = rewrites
  return {
    ...changes,
    requests: log.all,
    count: (endpoint) => log.all(endpoint).length,
    clearRequests: log.clear,
    faults: {
      set: faults.set,
      down: listening.down,
      up: listening.up,
      clear: (endpoint) => {
        if (endpoint === undefined) listening.up()
        faults.clear(endpoint)
        clear(endpoint)
      },
    },
  }
}

function time(
  state: ProviderState,
): Pick<DevProvider, 'clock' | 'jwks' | 'rotateKeys' | 'sign' | 'signAccessToken'> {
  const { clock, issuer: iss, keys } = state
  return {
    clock,
    jwks: () => publicJwks(keys),
    rotateKeys: async (options) => {
      await keys.rotate(options)
      await state.rebuild()
    },
    sign: keys.sign,
    signAccessToken: (claims, options = {}) => {
      const iat = clock.now()
      const content = { iss, client_id: 'api-client', jti: randomUUID(), iat, exp: iat + 300, ...claims }
      noteAccessToken(state, content, undefined)
      return keys.sign(content, { ...options, header: { typ: 'at+jwt', ...options.header } })
    },
  }
}

type Registration = Pick<DevProvider, 'addClient' | 'addUser' | 'addApi' | 'registerApp' | 'users'>

function registration(state: ProviderState, client: Client): Registration {
  return {
    addClient: async (options = {}) => toCredentials(await state.clients.add(options)),
    addUser: async (options) => {
      const known = state.users.customClaims().length
      const user = state.users.add(options)
      if (options.mfa) state.mfa.factors.addAll(user.sub, options.mfa)
      if (state.users.customClaims().length !== known) await state.rebuild()
      return user
    },
    addApi: (api) => state.apis.add(api),
    registerApp: (baseUrl, options = {}) =>
      state.clients.registerApp(baseUrl, { clientId: client.clientId, ...options }),
    users: () => state.users.all(),
  }
}

type LoggingOut = Pick<DevProvider, 'logoutToken' | 'endSessions' | 'logoutNotices'>

function loggingOut(state: ProviderState, client: Client): LoggingOut {
  return {
    logoutToken: async (subject, { clientId = client.clientId, change, sign } = {}) => {
      const claims = logoutClaims(state, clientId, subject)
      change?.(claims)
      return signLogoutToken(state, clientId, claims, sign)
    },
    endSessions: async (name) => {
      const user = state.users.find(name)
      if (!user) throw new DevProviderError('endSessions: there is no user with that name.')
      const sessions = state.store.list('Session').filter((session) => session.accountId === user.sub)
      await Promise.all(
        sessions.map(async ({ jti }) => {
          if (jti !== undefined) await endProviderSession(state, jti)
        }),
      )
    },
    logoutNotices: () => [...state.logoutNotices],
  }
}
