import { editDistance } from '../lib/edit-distance.ts'
import type {
  DpopKeyPair,
  DpopOptions,
  IdpClientOptions,
  RoutesOptions,
  SessionConfiguration,
  SessionCookieOptions,
  TransactionCookieOptions,
} from './options.ts'
import type { AddIssue } from './readers.ts'

/** Option names as a tree; `open` stands for a value, also for one whose members are the application's own. */
type Tree = { readonly [key: string]: Tree | 'open' }

/** Exactly the keys of an options type: a forgotten one and an invented one both fail to compile. */
type KeysOf<T> = Record<Extract<keyof T, string>, Tree | 'open'>

const sessionCookie = {
  name: 'open',
  secure: 'open',
  sameSite: 'open',
  path: 'open',
  domain: 'open',
  transient: 'open',
  maxBytes: 'open',
} as const satisfies KeysOf<SessionCookieOptions>

const session = {
  rolling: 'open',
  absoluteDuration: 'open',
  inactivityDuration: 'open',
  cookie: sessionCookie,
} as const satisfies KeysOf<SessionConfiguration>

const transactionCookie = {
  prefix: 'open',
  secure: 'open',
  sameSite: 'open',
  path: 'open',
  maxAge: 'open',
} as const satisfies KeysOf<TransactionCookieOptions>

const routes = {
  login: 'open',
  logout: 'open',
  callback: 'open',
  profile: 'open',
  accessToken: 'open',
  connectAccount: 'open',
  backChannelLogout: 'open',
  mfaAuthenticators: 'open',
  mfaChallenge: 'open',
  mfaAssociate: 'open',
  mfaVerify: 'open',
} as const satisfies KeysOf<RoutesOptions>

const dpopOptions = {
  clockTolerance: 'open',
  clockSkew: 'open',
  retry: { delay: 'open', jitter: 'open' } satisfies KeysOf<NonNullable<DpopOptions['retry']>>,
} as const satisfies KeysOf<DpopOptions>

const dpopKeyPair = { publicKey: 'open', privateKey: 'open' } as const satisfies KeysOf<DpopKeyPair>

const known: Tree = {
  domain: 'open',
  clientId: 'open',
  clientSecret: 'open',
  clientAssertionSigningKey: 'open',
  clientAssertionSigningAlg: 'open',
  clientAssertionSigningKeyId: 'open',
  clientAssertionAudience: 'open',
  tokenEndpointAuthMethod: 'open',
  idTokenSignedResponseAlg: 'open',
  authorizationParameters: 'open',
  pushedAuthorizationRequests: 'open',
  appBaseUrl: 'open',
  trustProxy: 'open',
  secret: 'open',
  signInReturnToPath: 'open',
  session,
  transactionCookie,
  enableParallelTransactions: 'open',
  logoutStrategy: 'open',
  includeIdTokenHintInOIDCLogoutUrl: 'open',
  beforeSessionSaved: 'open',
  onCallback: 'open',
  sessionStore: 'open',
  sessionLockTimeout: 'open',
  processLasts: 'open',
  routes,
  allowInsecureRequests: 'open',
  httpTimeout: 'open',
  enableTelemetry: 'open',
  enableAccessTokenEndpoint: 'open',
  tokenRefreshBuffer: 'open',
  noContentProfileResponseWhenUnauthenticated: 'open',
  enableConnectAccountEndpoint: 'open',
  useDPoP: 'open',
  dpopKeyPair,
  dpopOptions,
  mfaTokenTtl: 'open',
  fetchUserInfo: 'open',
  vendor: 'open',
  logger: 'open',
} as const satisfies KeysOf<IdpClientOptions>

function listPaths(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, below]) => {
    const path = prefix + key
    return below === 'open' ? [path] : [path, ...listPaths(below, `${path}.`)]
  })
}

/** Every option, nested ones with their path (`session.cookie.name`); the reference of options is checked against it. */
export const optionPaths: readonly string[] = Object.freeze(listPaths(known))

/** Names that examples and other libraries use for an option of ours, which no similarity of letters would find. */
const aliases: Readonly<Record<string, string>> = {
  'session.rollingDuration': 'session.inactivityDuration',
  'session.idleDuration': 'session.inactivityDuration',
  'session.store': 'sessionStore',
  'transactionCookie.duration': 'transactionCookie.maxAge',
  'transactionCookie.name': 'transactionCookie.prefix',
  'routes.backchannelLogout': 'routes.backChannelLogout',
  'routes.postLogoutRedirect': 'appBaseUrl',
  baseURL: 'appBaseUrl',
  baseUrl: 'appBaseUrl',
  issuer: 'domain',
  issuerBaseURL: 'domain',
  authorizationParams: 'authorizationParameters',
  cookies: 'session.cookie',
  cookie: 'session.cookie',
  mfaContextTtl: 'mfaTokenTtl',
  fetch: '[customFetch]',
  customFetch: '[customFetch]',
  clock: '[customClock]',
  customClock: '[customClock]',
}

const toLastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** The name that a misspelt one was probably meant to be. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  const key = misspelt.toLowerCase()
  const tolerance = key.length > 5 ? 2 : 1
  const near = names
    .map((name) => ({ name, distance: editDistance(key, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.name
}

/** The option that was probably meant: a known alias, a misspelt neighbour, or the same name at its right place. */
function suggestion(path: string, siblings: readonly string[], prefix: string): string | undefined {
  if (Object.hasOwn(aliases, path)) return aliases[path]
  const key = toLastPart(path).toLowerCase()
  const near = nearestName(key, siblings)
  if (near) return prefix + near
  return optionPaths.find((candidate) => toLastPart(candidate).toLowerCase() === key)
}

/** Names in options are written by the developer, but may be built from anything: only plain ones are repeated. */
export const printable: RegExp = /^[\w$-]{1,60}$/

function hintTo(meant: string): string {
  const symbol = /^\[(\w+)\]$/.exec(meant)?.[1]
  return ` Did you mean ${meant}?${symbol ? ` Its key is the symbol ${symbol}, which this package exports.` : ''}`
}

function visit(given: object, tree: Tree, prefix: string, addIssue: AddIssue): void {
  for (const [key, value] of Object.entries(given)) {
    const below = Object.hasOwn(tree, key) ? tree[key] : undefined
    if (below === undefined) {
      const name = printable.test(key) ? `${prefix}${key}` : `A key in ${prefix || 'the options'}`
      const meant = suggestion(prefix + key, Object.keys(tree), prefix)
      addIssue('notice', `${name} is no option and has no effect.${meant ? hintTo(meant) : ''}`)
    } else if (below !== 'open' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      visit(value, below, `${prefix}${key}.`, addIssue)
    }
  }
}

/** Reports every key that is no option, nested ones too; a misspelt option would otherwise be silently without effect. */
export function noteUnknownKeys(options: IdpClientOptions, addIssue: AddIssue): void {
  visit(options, known, '', addIssue)
}
