import type { Clock } from '../lib/clock.ts'
import { systemClock } from '../lib/clock.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import { deepFreeze } from '../lib/freeze.ts'
import { isDevelopment } from '../lib/node-env.ts'
import { defined } from '../lib/objects.ts'
import { processWide } from '../lib/registry.ts'
import { parseUrl } from '../lib/url.ts'
import { createLog } from '../log/log.ts'
import { resolveAuthorization } from './authorization.ts'
import { parseUrls, resolveAppBaseUrl } from './base-url.ts'
import { resolveClientAuth, resolveIdTokenAlgorithms, resolveRequestObject } from './client-auth.ts'
import type { ApiConfig, Config, CrossSiteLoginParameter, Problem, Resolved, Settings } from './config.ts'
import { noteOutOfReach } from './cookie-reach.ts'
import { resolveDpop } from './dpop.ts'
import type { Env } from './env.ts'
import { resolveFrontChannelLogout } from './front-channel-logout.ts'
import { resolveMutualTls } from './mutual-tls.ts'
import type { IdpClientOptions } from './options.ts'
import { customClock, customFetch } from './options.ts'
import { withoutPlaceholders } from './placeholders.ts'
import { resolveInsecure, resolveProvider } from './provider.ts'
import { resolveAdditionalKeys } from './public-keys.ts'
import type { AddIssue, Source } from './readers.ts'
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
  readRequired,
  readText,
} from './readers.ts'
import { resolveBasePath, resolveRoutes } from './routes.ts'
import { resolveSecrets } from './secrets.ts'
import { resolveLockTimeout, resolveSession, resolveSessionStore, resolveTransaction } from './session.ts'
import { resolveTakeOver } from './take-over.ts'
import { checkKeys } from './unknown-keys.ts'
import { resolveVendor } from './vendor.ts'
import { withoutSessions } from './without-sessions.ts'

/** Resolves the settings that clients with and without sessions have. */
function resolveBaseSettings(source: Source, sessions: boolean) {
  const { env, options } = source
  const production = env.NODE_ENV === 'production'
  // Otherwise browsers may reach this deployment without a proxy.
  const development = isDevelopment(env.NODE_ENV)
  const basePath = resolveBasePath(source)
  const routes = resolveRoutes(source, basePath, sessions)
  const appBaseUrl = resolveAppBaseUrl(source, { basePath, callback: routes.routes.callback })
  const clock: Clock = readFunction('[customClock]', options[customClock], source) ?? systemClock
  const trustByDefault = development || appBaseUrl?.kind === 'allow-list'
  const settings: Settings = {
    production,
    development,
    sessions,
    ...routes,
    basePath,
    origins: parseUrls(appBaseUrl).map(({ origin }) => origin),
    trustProxy: readFlag(getField('trustProxy', source)) ?? trustByDefault,
    noContentProfileResponseWhenUnauthenticated: readFlag(
      getField('noContentProfileResponseWhenUnauthenticated', source),
    ),
    clock,
    log: createLog(readFunction('logger', options.logger, source), development),
  }
  const allowInsecureRequests = resolveInsecure(source, production)
  const provider = resolveProvider(source, allowInsecureRequests)
  return { settings, appBaseUrl, allowInsecureRequests, provider }
}

type BaseSettings = ReturnType<typeof resolveBaseSettings>

function resolveReturnPath(source: Source): string {
  const field = getField('signInReturnToPath', source)
  const path = readText(field)
  const base = 'http://path.invalid'
  const url = path.startsWith('/') ? parseUrl(path, base) : null
  const target = url && url.origin === base ? url.pathname + url.search + url.hash : '//'
  if (!target.startsWith('//')) return target
  invalid(field, 'must be a path of the application that begins with one slash')
  return field.row.default
}

const CROSS_SITE_PARAMETERS: readonly unknown[] = ['audience', 'scope'] satisfies CrossSiteLoginParameter[]

function resolveCrossSiteParameters(source: Source): readonly CrossSiteLoginParameter[] {
  const field = getField('crossSiteLoginParameters', source)
  const names: readonly unknown[] = isPresent(field.given) ? [field.given].flat() : []
  const isKnown = (name: unknown): name is CrossSiteLoginParameter => CROSS_SITE_PARAMETERS.includes(name)
  if (names.every(isKnown)) return Object.freeze([...names])
  return invalid(field, "must be 'audience', 'scope' or an array of them") ?? []
}

/**
 * One function for the whole process: clients with the same `fetch` share cached documents. It reads the global at
 * each call, because frameworks replace it after this module was loaded.
 */
function defaultFetch(): FetchFunction {
  return processWide('cache:default-fetch/1', () => (input, init) => globalThis.fetch(input, init))
}

function resolveHooks(source: Source): Config['hooks'] {
  const beforeSessionSaved = readFunction('beforeSessionSaved', source.options.beforeSessionSaved, source)
  const onCallback = readFunction('onCallback', source.options.onCallback, source)
  if (onCallback && onCallback.length > 1) {
    source.addIssue(
      'notice',
      `onCallback takes one argument, but this one has ${onCallback.length}: write onCallback({ error, session, returnTo }), ` +
        'since the others are always undefined.',
      'HOOK_SIGNATURE',
    )
  }
  return defined({ beforeSessionSaved, onCallback })
}

const NOTHING_SET =
  'None of the required variables is set: was the file that sets them (.env) loaded? Node.js loads it with ' +
  '--env-file=.env, and not every framework loads it for the server.'

const REQUIRED = ['domain', 'clientId', 'clientSecret', 'clientAssertionSigningKey', 'secret'] as const

/** Returns whether neither options nor variables have anything that is required. */
function hasNothing(source: Source): boolean {
  return REQUIRED.every((name) => !isSet(getField(name, source)))
}

/** Resolves the options that are not required, and that count with `sessions: false`, too. */
function resolveApi(source: Source) {
  const httpTimeout = readNumber(getField('httpTimeout', source))
  const configuredFetch = readFunction('[customFetch]', source.options[customFetch], source)
  return defined({
    sessionStore: resolveSessionStore(source),
    httpTimeout,
    sessionLockTimeout: resolveLockTimeout(source, httpTimeout),
    telemetry: readFlag(getField('enableTelemetry', source)),
    dpop: resolveDpop(source),
    fetch: configuredFetch ?? defaultFetch(),
    vendor: resolveVendor(source),
  })
}

/** Resolves all other options that are not required, so that their mistakes are reported even if a required one is missing. */
function resolveRest(source: Source, { settings, appBaseUrl }: BaseSettings) {
  const authorization = resolveAuthorization(source, appBaseUrl)
  const context = { production: settings.production, appBaseUrl }
  const session = resolveSession(source, context)
  const crossSitePost = authorization.parameters.get('response_mode') === 'form_post'
  const idTokenAlgorithms = resolveIdTokenAlgorithms(source)
  return defined({
    authorization,
    session,
    transaction: resolveTransaction(source, {
      ...context,
      sessionCookieName: session.cookie.name,
      crossSitePost,
    }),
    idTokenAlgorithms,
    crossSiteLoginParameters: resolveCrossSiteParameters(source),
    signInReturnToPath: resolveReturnPath(source),
    logoutStrategy: readOneOf(getField('logoutStrategy', source)),
    includeIdTokenHint: readFlag(getField('includeIdTokenHintInOIDCLogoutUrl', source)),
    revokeAtLogout: readFlag(getField('revokeRefreshTokenAtLogout', source)),
    frontChannelLogout: resolveFrontChannelLogout(source),
    takeOver: resolveTakeOver(source, settings.clock),
    pushedAuthorizationRequests: readFlag(getField('pushedAuthorizationRequests', source)),
    requestObject: resolveRequestObject(source),
    additionalPublicKeys: resolveAdditionalKeys(source),
    fetchUserInfo: readFlag(getField('fetchUserInfo', source)),
    processLasts: readFlag(getField('processLasts', source)),
    hooks: resolveHooks(source),
    tokenRefreshBuffer: readNumber(getField('tokenRefreshBuffer', source)),
    mfaTokenTtl: readNumber(getField('mfaTokenTtl', source)),
  })
}

/** Resolves the configuration of a client with sessions. */
function resolveSessions(source: Source, base: BaseSettings, isUsable: () => boolean): Config | null {
  const { settings, appBaseUrl, allowInsecureRequests, provider } = base
  const clientId = readRequired(getField('clientId', source))
  const secrets = resolveSecrets(source)
  const clientAuth = resolveClientAuth(source)
  const mutualTls = resolveMutualTls(source, clientAuth)
  const rest = { ...resolveRest(source, base), ...resolveApi(source) }
  noteOutOfReach(base, rest, source.addIssue)
  if (!isUsable() || !appBaseUrl || !provider || !clientId || !clientAuth || !secrets) return null
  const required = { appBaseUrl, allowInsecureRequests, provider, clientId, clientAuth, secrets }
  return {
    ...settings,
    ...rest,
    ...required,
    ...(mutualTls && { mutualTls }),
    idTokenAudiences: [clientId],
  }
}

/** Resolves the configuration of an API alone. */
function resolveAlone(source: Source, base: BaseSettings, isUsable: () => boolean): ApiConfig | null {
  const { settings, appBaseUrl, allowInsecureRequests, provider } = base
  const rest = resolveApi(source)
  if (!isUsable() || !appBaseUrl || !provider) return null
  return { ...settings, ...rest, appBaseUrl, allowInsecureRequests, provider, idTokenAudiences: [] }
}

/**
 * Resolves options and variables to settings and configuration. Reads nothing else and does no I/O. Never throws: returns
 * every mistake as a problem. The order is option, variable, default.
 */
export function resolve(givenOptions: IdpClientOptions, env: Env): Resolved {
  const problems: Problem[] = []
  const addIssue: AddIssue = (kind, message, remedy) => problems.push(defined({ kind, message, remedy }))
  const given: Source = { options: {}, env, addIssue }
  const options: IdpClientOptions = readGroup('options', givenOptions, given)
  checkKeys(options, given)
  const all: Source = { ...given, options }
  const sessions = readFlag(getField('sessions', all))
  const counting = sessions ? all : withoutSessions(all)
  if (hasNothing(counting)) addIssue('missing', NOTHING_SET)
  const source = withoutPlaceholders(counting)
  const base = resolveBaseSettings(source, sessions)
  const isUsable = (): boolean => problems.every(({ kind }) => kind === 'notice')
  const config = sessions ? resolveSessions(source, base, isUsable) : null
  const apiConfig = sessions ? config : resolveAlone(source, base, isUsable)
  return deepFreeze({ settings: base.settings, config, apiConfig, problems }, options.sessionStore)
}
