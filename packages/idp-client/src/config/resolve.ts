import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { deepFreeze } from '../lib/freeze.ts'
import { isDevelopment } from '../lib/node-env.ts'
import { processWide } from '../lib/registry.ts'
import { createLog } from '../log/log.ts'
import { resolveAuthorization } from './authorization.ts'
import { resolveAppBaseUrl, toOrigins } from './base-url.ts'
import { resolveClientAuth, resolveIdTokenAlgorithms } from './client-auth.ts'
import type { AppBaseUrl, Config, CrossSiteLoginParameter, Problem, Resolved, Settings } from './config.ts'
import { noteOutOfReach } from './cookie-reach.ts'
import { resolveDpop } from './dpop.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { customClock, customFetch } from './options.ts'
import { withoutPlaceholders } from './placeholders.ts'
import { resolveInsecure, resolveProvider } from './provider.ts'
import type { AddIssue } from './readers.ts'
import {
  getField,
  invalid,
  isPresent,
  isSet,
  readFlag,
  readFunction,
  readGroup,
  readNumber,
  readOneOf,
  readText,
  waysToSet,
} from './readers.ts'
import { resolveBasePath, resolveRoutes } from './routes.ts'
import { resolveSecrets } from './secrets.ts'
import { resolveLockTimeout, resolveSession, resolveSessionStore, resolveTransaction } from './session.ts'
import { checkKeys } from './unknown-keys.ts'
import { resolveVendor } from './vendor.ts'

interface BaseSettings {
  readonly settings: Settings
  readonly appBaseUrl: AppBaseUrl | null
}

function resolveBaseSettings(options: IdpClientOptions, env: Env, addIssue: AddIssue): BaseSettings {
  const production = env.NODE_ENV === 'production'
  // Otherwise browsers may reach this deployment without a proxy.
  const development = isDevelopment(env.NODE_ENV)
  const basePath = resolveBasePath(env, addIssue)
  const routes = resolveRoutes(options, env, basePath, addIssue)
  const appBaseUrl = resolveAppBaseUrl(options, env, { basePath, callback: routes.routes.callback }, addIssue)
  const clock: Clock = readFunction('[customClock]', options[customClock], addIssue) ?? systemClock
  const trustByDefault = development || appBaseUrl?.kind === 'allow-list'
  const settings: Settings = {
    production,
    development,
    ...routes,
    basePath,
    origins: appBaseUrl ? [...toOrigins(appBaseUrl)] : [],
    trustProxy: readFlag(getField('trustProxy', options), addIssue) ?? trustByDefault,
    noContentProfileResponseWhenUnauthenticated: readFlag(
      getField('noContentProfileResponseWhenUnauthenticated', options),
      addIssue,
    ),
    clock,
    log: createLog(readFunction('logger', options.logger, addIssue), development),
  }
  return { settings, appBaseUrl }
}

function resolveClientId(options: IdpClientOptions, env: Env, addIssue: AddIssue): string | undefined {
  const field = getField('clientId', options, env)
  const clientId = readText(field, addIssue)
  if (clientId === undefined && !isPresent(field.given)) {
    addIssue('missing', `clientId is missing: ${waysToSet(field)}.`)
  }
  return clientId
}

function resolveReturnPath(options: IdpClientOptions, addIssue: AddIssue): string {
  const field = getField('signInReturnToPath', options)
  const path = readText(field, addIssue)
  const base = 'http://path.invalid'
  const url = /^\/(?![/\\])/.test(path) && URL.canParse(path, base) ? new URL(path, base) : null
  const target = url && url.origin === base ? url.pathname + url.search + url.hash : '//'
  if (!target.startsWith('//')) return target
  invalid(field, addIssue, 'must be a path of the application that begins with one slash')
  return field.row.default
}

const CROSS_SITE_PARAMETERS: readonly unknown[] = ['audience', 'scope'] satisfies CrossSiteLoginParameter[]

function resolveCrossSiteParameters(
  options: IdpClientOptions,
  addIssue: AddIssue,
): readonly CrossSiteLoginParameter[] {
  const field = getField('crossSiteLoginParameters', options)
  const names: readonly unknown[] = isPresent(field.given) ? [field.given].flat() : []
  const isKnown = (name: unknown): name is CrossSiteLoginParameter => CROSS_SITE_PARAMETERS.includes(name)
  if (names.every(isKnown)) return Object.freeze([...names])
  return invalid(field, addIssue, "must be 'audience', 'scope' or an array of them") ?? []
}

/**
 * One function for the whole process: clients with the same `fetch` share cached documents. It reads the global at
 * each call, because frameworks replace it after this module was loaded.
 */
function defaultFetch(): typeof globalThis.fetch {
  return processWide('cache:default-fetch/1', () => (input, init) => globalThis.fetch(input, init))
}

function resolveHooks(options: IdpClientOptions, addIssue: AddIssue): Config['hooks'] {
  const beforeSessionSaved = readFunction('beforeSessionSaved', options.beforeSessionSaved, addIssue)
  const onCallback = readFunction('onCallback', options.onCallback, addIssue)
  if (onCallback && onCallback.length > 1) {
    addIssue(
      'notice',
      `onCallback takes one argument, but this one has ${onCallback.length}: write onCallback({ error, session, returnTo }), ` +
        'since the others are always undefined.',
      'HOOK_SIGNATURE',
    )
  }
  return defined({ beforeSessionSaved, onCallback })
}

type Limits = Pick<Config, 'httpTimeout' | 'tokenRefreshBuffer' | 'mfaTokenTtl' | 'sessionLockTimeout'>

function resolveLimits(options: IdpClientOptions, env: Env, addIssue: AddIssue): Limits {
  const httpTimeout = readNumber(getField('httpTimeout', options), addIssue)
  return {
    httpTimeout,
    sessionLockTimeout: resolveLockTimeout(options, httpTimeout, addIssue),
    tokenRefreshBuffer: readNumber(getField('tokenRefreshBuffer', options), addIssue),
    mfaTokenTtl: readNumber(getField('mfaTokenTtl', options, env), addIssue),
  }
}

type Required = 'provider' | 'clientId' | 'clientAuth' | 'secrets'

function resolveRequired(options: IdpClientOptions, env: Env, allowInsecure: boolean, addIssue: AddIssue) {
  return {
    provider: resolveProvider(options, env, allowInsecure, addIssue),
    clientId: resolveClientId(options, env, addIssue),
    secrets: resolveSecrets(options, env, addIssue),
    clientAuth: resolveClientAuth(options, env, addIssue),
  } satisfies { [Key in Required]: Config[Key] | undefined }
}

const NOTHING_SET =
  'None of the required variables is set: was the file that sets them (.env) loaded? Node.js loads it with ' +
  '--env-file=.env, and not every framework loads it for the server.'

const REQUIRED = ['domain', 'clientId', 'clientSecret', 'clientAssertionSigningKey', 'secret'] as const

/** Returns whether neither options nor variables have anything that is required. */
function hasNothing(options: IdpClientOptions, env: Env): boolean {
  return REQUIRED.every((name) => !isSet(getField(name, options, env)))
}

/** Resolves all options that are not required, so that their mistakes are reported even if a required one is missing. */
function resolveRest(
  options: IdpClientOptions,
  env: Env,
  { settings, appBaseUrl }: BaseSettings,
  addIssue: AddIssue,
) {
  const authorization = resolveAuthorization(options, appBaseUrl, addIssue)
  const context = { production: settings.production, appBaseUrl }
  const session = resolveSession(options, env, context, addIssue)
  const crossSitePost = authorization.parameters.get('response_mode') === 'form_post'
  const sessionStore = resolveSessionStore(options, addIssue)
  const idTokenAlgorithms = resolveIdTokenAlgorithms(options, env, addIssue)
  const configuredFetch = readFunction('[customFetch]', options[customFetch], addIssue)
  return defined({
    authorization,
    session,
    transaction: resolveTransaction(
      options,
      { ...context, sessionCookieName: session.cookie.name, crossSitePost },
      addIssue,
    ),
    sessionStore,
    idTokenAlgorithms,
    crossSiteLoginParameters: resolveCrossSiteParameters(options, addIssue),
    signInReturnToPath: resolveReturnPath(options, addIssue),
    logoutStrategy: readOneOf(getField('logoutStrategy', options), addIssue),
    includeIdTokenHint: readFlag(getField('includeIdTokenHintInOIDCLogoutUrl', options), addIssue),
    pushedAuthorizationRequests: readFlag(getField('pushedAuthorizationRequests', options), addIssue),
    fetchUserInfo: readFlag(getField('fetchUserInfo', options), addIssue),
    telemetry: readFlag(getField('enableTelemetry', options), addIssue),
    processLasts: readFlag(getField('processLasts', options), addIssue),
    hooks: resolveHooks(options, addIssue),
    ...resolveLimits(options, env, addIssue),
    dpop: resolveDpop(options, env, addIssue),
    fetch: configuredFetch ?? defaultFetch(),
    vendor: resolveVendor(options, addIssue),
  }) satisfies Omit<Config, keyof Settings | Required | 'appBaseUrl' | 'allowInsecureRequests'>
}

/**
 * Resolves options and variables to settings and configuration. Reads nothing else and does no I/O. Never throws: returns
 * every mistake as a problem. The order is option, variable, default.
 */
export function resolve(given: IdpClientOptions, givenEnv: Env): Resolved {
  const problems: Problem[] = []
  const addIssue: AddIssue = (kind, message, remedy) => problems.push(defined({ kind, message, remedy }))
  const givenOptions: IdpClientOptions = readGroup('options', given, addIssue)
  checkKeys(givenOptions, addIssue)
  if (hasNothing(givenOptions, givenEnv)) addIssue('missing', NOTHING_SET)
  const { options, env } = withoutPlaceholders(givenOptions, givenEnv, addIssue)
  const base = resolveBaseSettings(options, env, addIssue)
  const { settings, appBaseUrl } = base
  const allowInsecureRequests = resolveInsecure(options, settings.production, addIssue)
  const { provider, clientId, clientAuth, secrets } = resolveRequired(
    options,
    env,
    allowInsecureRequests,
    addIssue,
  )
  const rest = resolveRest(options, env, base, addIssue)
  noteOutOfReach(base, rest, addIssue)
  const usable = problems.every(({ kind }) => kind === 'notice')
  const config: Config | null =
    usable && appBaseUrl && provider && clientId && clientAuth && secrets
      ? { ...settings, ...rest, appBaseUrl, allowInsecureRequests, provider, clientId, clientAuth, secrets }
      : null
  return deepFreeze({ settings, config, problems }, options.sessionStore)
}
