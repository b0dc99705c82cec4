import { randomBytes } from 'node:crypto'
import type { Provider } from 'oidc-provider'
import { createApiDirectory, DEFAULT_APIS } from './apis.ts'
import { assemble } from './assemble.ts'
import { createClientRegistry } from './clients.ts'
import type { ClockScope } from './clock.ts'
import { createClock } from './clock.ts'
import type { DevProvider } from './dev-provider.ts'
import { DevProviderError } from './error.ts'
import { accountAudience } from './extensions/accounts/access.ts'
import { ACCOUNT_SCOPES } from './extensions/accounts/api.ts'
import { createConnectRequests } from './extensions/accounts/requests.ts'
import { createAccountVault } from './extensions/accounts/vault.ts'
import { DETAILS_TYPES } from './extensions/authorization-details.ts'
import { createMfaState } from './extensions/mfa/state.ts'
import type { Front } from './front.ts'
import { handle } from './front.ts'
import { createKeyRing } from './keys.ts'
import type { Listening } from './listen.ts'
import { listen, together } from './listen.ts'
import { createEngine } from './oidc/engine.ts'
import { loadOidcProvider } from './oidc/load.ts'
import type { ProviderState } from './oidc/state.ts'
import type { DevProviderOptions } from './options.ts'
import { resolveSettings } from './options.ts'
import { createStore } from './store.ts'
import type { User } from './users.ts'
import { createUserDirectory } from './users.ts'
import { AVATAR_PATH } from './wire/endpoints.ts'
import { createRules } from './wire/faults.ts'
import { createRequestLog } from './wire/request-log.ts'
import { createRewrites } from './wire/rewrites.ts'

/**
 * Starts a development identity provider in this process, on loopback.
 *
 * @throws DevProviderError when an option cannot work (not a loopback host, port in use, bad path)
 */
export async function startDevProvider(options: DevProviderOptions = {}): Promise<DevProvider> {
  const host = options.host ?? 'localhost'
  const path = checkedPath(options.path ?? '')
  const authority =
    options.https || options.mtls
      ? await (await import('./certificates.ts')).createAuthority(host)
      : undefined
  let front: Front | undefined
  // No client knows the ports before this function returns, so nothing arrives before `front` is set.
  const listenOn = (port: number, clientCa?: string): Promise<Listening> =>
    listen({
      host,
      port,
      tls: authority?.identity,
      clientCa,
      listener: (request, response) => {
        if (front) void handle(front, request, response, clientCa !== undefined)
        else response.destroy()
      },
    })
  const own = await listenOn(options.port ?? 0)
  const asking = options.mtls ? await listenOn(0, authority?.ca) : undefined
  const listening = asking ? together(own, asking) : own
  try {
    const origin = `${authority ? 'https' : 'http'}://${host}:${listening.port}`
    const certificateOrigin = asking && `https://${host}:${asking.port}`
    const state = await createState(options, origin + path, certificateOrigin)
    const { clients } = state
    const client = await clients.add(defaultClient(options))
    const keyClient = await clients.add({
      clientId: 'dev-app-key',
      tokenEndpointAuthMethod: 'private_key_jwt',
      name: 'Development app (private key)',
    })
    for (const extra of options.clients ?? []) await clients.add(extra)
    for (const app of options.apps ?? []) {
      clients.registerApp(app, { ...options.appOptions, clientId: client.clientId })
    }
    front = { state, log: createRequestLog(), faults: createRules(), rewrites: createRewrites(state.keys) }
    return assemble({ appBaseUrl: options.apps?.[0], front, client, keyClient, listening, authority })
  } catch (error) {
    await listening.close()
    await authority?.remove()
    throw error
  }
}

/** Returns the users of a provider with that issuer and option, which need not run. */
export function listUsers(issuer: string, users?: DevProviderOptions['users']): readonly User[] {
  return createUserDirectory(issuer + AVATAR_PATH, users).all()
}

function checkedPath(path: string): string {
  if (path === '' || /^(\/[\w.~-]+)+$/.test(path)) return path
  throw new DevProviderError('path must look like /tenant-a: a slash first, none at the end.')
}

function defaultClient(options: DevProviderOptions): Parameters<ProviderState['clients']['add']>[0] {
  return {
    clientId: 'dev-app',
    // Fixed, so that an application keeps working when the provider is started anew.
    clientSecret: 'dev-app-secret-for-loopback-only',
    name: 'Development app',
    ...(options.tokenEndpointAuthMethod ? { tokenEndpointAuthMethod: options.tokenEndpointAuthMethod } : {}),
    ...(options.idTokenSigningAlg ? { idTokenSigningAlg: options.idTokenSigningAlg } : {}),
    ...(options.userinfoSigningAlg ? { userinfoSigningAlg: options.userinfoSigningAlg } : {}),
    ...(options.requirePar === undefined ? {} : { requirePar: options.requirePar }),
    ...(options.requireDpop === undefined ? {} : { requireDpop: options.requireDpop }),
  }
}

async function createState(
  options: DevProviderOptions,
  issuer: string,
  certificateOrigin: string | undefined,
): Promise<ProviderState> {
  const [oidc, keys] = await Promise.all([loadOidcProvider(), createKeyRing()])
  const clock: ClockScope = createClock(options.clock)
  const users = createUserDirectory(issuer + AVATAR_PATH, options.users)
  let engine: Provider | undefined
  const state: ProviderState = {
    issuer,
    mountPath: new URL(issuer).pathname.replace(/\/$/, ''),
    secure: issuer.startsWith('https:'),
    certificateOrigin,
    settings: resolveSettings(options),
    endSession: options.endSession ?? true,
    authorizationDetailsTypes: options.authorizationDetailsTypes ?? DETAILS_TYPES,
    connections: new Set(options.connections ?? ['google-oauth2', 'github']),
    cookieKeys: [randomBytes(32).toString('base64url')],
    nonceSecret: randomBytes(32),
    oidc,
    users,
    clients: createClientRegistry(),
    apis: createApiDirectory([
      { audience: accountAudience(issuer), scopes: ACCOUNT_SCOPES },
      ...(options.apis ?? DEFAULT_APIS),
    ]),
    keys,
    clock,
    store: createStore(() => clock.now()),
    facts: new Map(),
    accessTokenGrants: new Map(),
    ciba: { open: new Map() },
    accounts: createAccountVault(() => clock.now()),
    connectRequests: createConnectRequests(() => clock.now()),
    mfa: createMfaState(() => clock.now()),
    issued: [],
    logoutNotices: [],
    log: options.log ?? (() => {}),
    acceptSubjectToken: options.acceptSubjectToken ?? ((token) => users.find(token)?.name),
    get engine(): Provider {
      if (!engine) throw new DevProviderError('The provider has not started yet.')
      return engine
    },
    rebuild: async () => {
      engine = await createEngine(state)
    },
  }
  for (const { name, mfa } of options.users ?? []) {
    const user = users.byName(name)
    if (user && mfa) state.mfa.factors.addAll(user.sub, mfa)
  }
  await state.rebuild()
  return state
}
