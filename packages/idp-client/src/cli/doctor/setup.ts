import { existsSync, readFileSync } from 'node:fs'
import { resolve as resolvePath } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import { isLoopback } from '../../config/base-url.ts'
import type { ApiConfig, Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { readEnv, variableNames } from '../../config/env.ts'
import { resolve } from '../../config/resolve.ts'
import { nearestName } from '../../config/unknown-keys.ts'
import type { Application } from '../../engine.ts'
import { isIdpError } from '../../errors/base.ts'
import { toClassName } from '../../errors/diagnosis.ts'
import { defined } from '../../lib/objects.ts'
import { atMost } from '../../lib/pause.ts'
import { parseUrl } from '../../lib/url.ts'
import type { CompleteStore } from '../../session/store/complete-store.ts'
import type { Findings } from './findings.ts'
import { find, findThrown } from './findings.ts'
import type { DoctorParameters, Variables } from './usage.ts'

/** The set-up of the application, as far as it is usable. */
export interface Setup {
  readonly findings: Findings
  readonly apiConfig?: ApiConfig
  /** Absent for an API alone, too. */
  readonly config?: Config
  readonly sessionStore?: () => Promise<CompleteStore>
}

/** Files that most frameworks read. The later one takes precedence. */
const DEFAULT_FILES = ['.env', '.env.local']

/** Returns the variables of the file, otherwise of the default ones; `null` if the file cannot be read. */
export function readVariables(file: string | undefined): Variables | null {
  const files = file === undefined ? DEFAULT_FILES.filter((name) => existsSync(name)) : [file]
  try {
    return Object.assign({}, ...files.map((name) => parseEnv(readFileSync(name, 'utf8'))))
  } catch {
    return null
  }
}

/** Finds names in the file that look like a misspelt one of ours. Other names belong to other programs. */
function findMisspelt(variables: Variables): Findings {
  return Object.keys(variables).flatMap((name) => {
    if (variableNames.some((known) => known === name)) return []
    const meant = nearestName(name, variableNames)
    if (meant === undefined || !/^\w{1,64}$/.test(name)) return []
    return find('UNKNOWN_VARIABLE', `${name} is not a variable of idp-client. Did you mean ${meant}?`)
  })
}

/** The code may set `allowInsecureRequests`, which no variable does: on this machine that is as good as certain. */
function usesLocalHttp({ IDP_DOMAIN }: Env): boolean {
  const url = IDP_DOMAIN === undefined ? null : parseUrl(IDP_DOMAIN)
  return url?.protocol === 'http:' && isLoopback(url.host)
}

function fromVariables(variables: Variables): Setup {
  // As where the application runs: a variable of the process, even an empty one, hides that of the file.
  const ofFile = variableNames.filter((name) => process.env[name] === undefined)
  const known = Object.fromEntries(ofFile.map((name) => [name, variables[name]?.trim() || undefined]))
  const env: Env = { ...defined(known), ...readEnv('next') }
  const { apiConfig, config, problems } = resolve({ allowInsecureRequests: usesLocalHttp(env) }, env)
  const findings = problems.flatMap(({ message, remedy = 'INVALID_CONFIGURATION' }) => find(remedy, message))
  return defined({ findings, apiConfig: apiConfig ?? undefined, config: config ?? undefined })
}

function isApplication(value: unknown): value is Application {
  return typeof value === 'object' && value !== null && 'apiEngine' in value && 'settings' in value
}

/** Returns the application behind the first client that a module exports. */
function findApplication(exported: object): Application | undefined {
  const clients = Object.values(exported).filter((value) => typeof value === 'object' && value !== null)
  return clients.map((client): unknown => Reflect.get(client, 'application')).find(isApplication)
}

/** The constructor has reported this to the log of the application. */
function checkHooks({ hooks: { onCallback } }: Config): Findings {
  if (!onCallback || onCallback.length < 2) return []
  return find('HOOK_SIGNATURE', `onCallback takes one argument, but this one has ${onCallback.length}.`)
}

/** Returns the set-up of a client. Throws `InvalidConfigurationError` while it is incomplete. */
export function fromApplication(application: Application): Setup {
  const { settings } = application
  const engine = settings.sessions ? application.engine() : application.apiEngine()
  const config = settings.sessions ? application.engine().config : undefined
  const { config: apiConfig, sessionStore } = engine
  return defined({ findings: config ? checkHooks(config) : [], apiConfig, config, sessionStore })
}

/** Why a module could not be loaded. The message of an error may contain an address with a password, so it is left out. */
function describeFailure(file: string, error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `${file} was not loaded: this Node.js does not run TypeScript. Only the variables were checked.`
  const reason = typeof code === 'string' && /^[A-Z_]{1,64}$/.test(code) ? code : toClassName(error)
  return `${file} could not be loaded (${reason}). Only the variables were checked.`
}

/** Milliseconds after which a module that waits, for example for a database, counts as one that cannot be loaded. */
const LOADING_TIME = 30_000

/** Loads the module, in the process that has the variables. A failure of the module leaves the variables to be checked. */
async function fromModule(file: string, variables: Variables): Promise<Setup> {
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value
  const withoutModule = (reason: string): Setup => {
    const setup = fromVariables(variables)
    return { ...setup, findings: [...find('CONFIG_NOT_LOADED', reason), ...setup.findings] }
  }
  try {
    const loading: Promise<unknown> = import(pathToFileURL(resolvePath(file)).href)
    if (!(await atMost(LOADING_TIME, loading)))
      return withoutModule(
        `${file} was not loaded within ${LOADING_TIME / 1000} s: it waits for something, such as a server that does not respond. Only the variables were checked.`,
      )
    const application = findApplication(Object(await loading))
    return application
      ? fromApplication(application)
      : withoutModule(`${file} exports no IdpClient. Only the variables were checked.`)
  } catch (error) {
    if (isIdpError(error)) return { findings: findThrown(error) }
    return withoutModule(describeFailure(file, error))
  }
}

/** Loads the set-up: the client that the module exports, otherwise what the variables say. */
export async function loadSetup(
  { config: file }: Pick<DoctorParameters, 'config'>,
  variables: Variables,
): Promise<Setup> {
  const setup = file === undefined ? fromVariables(variables) : await fromModule(file, variables)
  return { ...setup, findings: [...findMisspelt(variables), ...setup.findings] }
}
