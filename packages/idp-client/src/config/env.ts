import { isEdgeRuntime } from '../lib/runtime.ts'

/** Variables that also browsers need, by their name without prefix. */
export type PublicName =
  | 'BASE_PATH'
  | 'LOGIN_ROUTE'
  | 'PROFILE_ROUTE'
  | 'ACCESS_TOKEN_ROUTE'
  | 'MFA_AUTHENTICATORS_ROUTE'
  | 'MFA_CHALLENGE_ROUTE'
  | 'MFA_ASSOCIATE_ROUTE'
  | 'MFA_VERIFY_ROUTE'

/** Prefixes of public variables beside `FRAMEWORK_PUBLIC_`, which every host reads. */
export type HostPrefix = 'NEXT_PUBLIC_'

export type VariableName =
  | 'NODE_ENV'
  | 'APP_BASE_URL'
  | 'IDP_DOMAIN'
  | 'IDP_CLIENT_ID'
  | 'IDP_CLIENT_SECRET'
  | 'IDP_CLIENT_ASSERTION_SIGNING_KEY'
  | 'IDP_CLIENT_ASSERTION_SIGNING_ALG'
  | 'IDP_CLIENT_ASSERTION_AUDIENCE'
  | 'IDP_TOKEN_ENDPOINT_AUTH_METHOD'
  | 'IDP_ID_TOKEN_SIGNED_RESPONSE_ALG'
  | 'IDP_SECRET'
  | 'IDP_COOKIE_SECURE'
  | 'IDP_COOKIE_SAME_SITE'
  | 'IDP_COOKIE_PATH'
  | 'IDP_COOKIE_DOMAIN'
  | 'IDP_COOKIE_TRANSIENT'
  | 'IDP_DPOP_PUBLIC_KEY'
  | 'IDP_DPOP_PRIVATE_KEY'
  | 'IDP_DPOP_CLOCK_SKEW'
  | 'IDP_DPOP_CLOCK_TOLERANCE'
  | 'IDP_RETRY_DELAY'
  | 'IDP_RETRY_JITTER'
  | 'IDP_MFA_TOKEN_TTL'
  | `FRAMEWORK_PUBLIC_${PublicName}`
  | `${HostPrefix}${PublicName}`

/** Environment variables as text without surrounding blanks; an empty one is absent. */
export type Env = { readonly [Name in VariableName]?: string | undefined }

// Hosts without Node types (and edge runtimes without the object at all) get by with this.
declare const process: { readonly env: Env }

/**
 * One function per variable, each with the whole expression: bundlers put values in place of `process.env.NAME` only
 * where it is written out, and do so even where no `process` exists.
 */
const variables: { readonly [Name in VariableName]: () => string | undefined } = {
  NODE_ENV: () => process.env.NODE_ENV,
  APP_BASE_URL: () => process.env.APP_BASE_URL,
  IDP_DOMAIN: () => process.env.IDP_DOMAIN,
  IDP_CLIENT_ID: () => process.env.IDP_CLIENT_ID,
  IDP_CLIENT_SECRET: () => process.env.IDP_CLIENT_SECRET,
  IDP_CLIENT_ASSERTION_SIGNING_KEY: () => process.env.IDP_CLIENT_ASSERTION_SIGNING_KEY,
  IDP_CLIENT_ASSERTION_SIGNING_ALG: () => process.env.IDP_CLIENT_ASSERTION_SIGNING_ALG,
  IDP_CLIENT_ASSERTION_AUDIENCE: () => process.env.IDP_CLIENT_ASSERTION_AUDIENCE,
  IDP_TOKEN_ENDPOINT_AUTH_METHOD: () => process.env.IDP_TOKEN_ENDPOINT_AUTH_METHOD,
  IDP_ID_TOKEN_SIGNED_RESPONSE_ALG: () => process.env.IDP_ID_TOKEN_SIGNED_RESPONSE_ALG,
  IDP_SECRET: () => process.env.IDP_SECRET,
  IDP_COOKIE_SECURE: () => process.env.IDP_COOKIE_SECURE,
  IDP_COOKIE_SAME_SITE: () => process.env.IDP_COOKIE_SAME_SITE,
  IDP_COOKIE_PATH: () => process.env.IDP_COOKIE_PATH,
  IDP_COOKIE_DOMAIN: () => process.env.IDP_COOKIE_DOMAIN,
  IDP_COOKIE_TRANSIENT: () => process.env.IDP_COOKIE_TRANSIENT,
  IDP_DPOP_PUBLIC_KEY: () => process.env.IDP_DPOP_PUBLIC_KEY,
  IDP_DPOP_PRIVATE_KEY: () => process.env.IDP_DPOP_PRIVATE_KEY,
  IDP_DPOP_CLOCK_SKEW: () => process.env.IDP_DPOP_CLOCK_SKEW,
  IDP_DPOP_CLOCK_TOLERANCE: () => process.env.IDP_DPOP_CLOCK_TOLERANCE,
  IDP_RETRY_DELAY: () => process.env.IDP_RETRY_DELAY,
  IDP_RETRY_JITTER: () => process.env.IDP_RETRY_JITTER,
  IDP_MFA_TOKEN_TTL: () => process.env.IDP_MFA_TOKEN_TTL,
  FRAMEWORK_PUBLIC_BASE_PATH: () => process.env.FRAMEWORK_PUBLIC_BASE_PATH,
  FRAMEWORK_PUBLIC_LOGIN_ROUTE: () => process.env.FRAMEWORK_PUBLIC_LOGIN_ROUTE,
  FRAMEWORK_PUBLIC_PROFILE_ROUTE: () => process.env.FRAMEWORK_PUBLIC_PROFILE_ROUTE,
  FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE: () => process.env.FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE,
  FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE: () => process.env.FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
  FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE: () => process.env.FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE,
  FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE: () => process.env.FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE,
  FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE: () => process.env.FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE,
  NEXT_PUBLIC_BASE_PATH: () => process.env.NEXT_PUBLIC_BASE_PATH,
  NEXT_PUBLIC_LOGIN_ROUTE: () => process.env.NEXT_PUBLIC_LOGIN_ROUTE,
  NEXT_PUBLIC_PROFILE_ROUTE: () => process.env.NEXT_PUBLIC_PROFILE_ROUTE,
  NEXT_PUBLIC_ACCESS_TOKEN_ROUTE: () => process.env.NEXT_PUBLIC_ACCESS_TOKEN_ROUTE,
  NEXT_PUBLIC_MFA_AUTHENTICATORS_ROUTE: () => process.env.NEXT_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
  NEXT_PUBLIC_MFA_CHALLENGE_ROUTE: () => process.env.NEXT_PUBLIC_MFA_CHALLENGE_ROUTE,
  NEXT_PUBLIC_MFA_ASSOCIATE_ROUTE: () => process.env.NEXT_PUBLIC_MFA_ASSOCIATE_ROUTE,
  NEXT_PUBLIC_MFA_VERIFY_ROUTE: () => process.env.NEXT_PUBLIC_MFA_VERIFY_ROUTE,
}

/** Every variable that the library knows; the reference of variables is checked against it. */
export const variableNames: readonly VariableName[] = Object.freeze(Object.keys(variables) as VariableName[])

const hostPrefixes: readonly HostPrefix[] = ['NEXT_PUBLIC_']

/** A runtime without `process`, or one that asks for a permission to read it, has no variables. */
function attempt(read: () => string | undefined): string | undefined {
  try {
    return read()?.trim() || undefined
  } catch {
    return undefined
  }
}

/** Reads all variables now: `FRAMEWORK_PUBLIC_*` always, those with a prefix of a host only when the host asks. */
export function readEnv(
  host: { readonly publicPrefixes: readonly HostPrefix[] } = { publicPrefixes: [] },
): Env {
  const ignored = hostPrefixes.filter((prefix) => !host.publicPrefixes.includes(prefix))
  const env: { [Name in VariableName]?: string } = {}
  for (const name of variableNames) {
    if (ignored.some((prefix) => name.startsWith(prefix))) continue
    const value = attempt(variables[name])
    if (value !== undefined) env[name] = value
  }
  return env
}

interface Runtime {
  readonly document?: unknown
  readonly process?: { readonly versions?: { readonly node?: string } }
}

/**
 * Whether this is a page of a browser: there is a document, but neither Node.js (whose tests bring a document along) nor
 * an edge runtime. Read from the global object, because Next warns of everything but `process.env` in an edge build.
 */
export function isBrowser(): boolean {
  const { document, process: host } = globalThis as Runtime
  return document !== undefined && !isEdgeRuntime() && host?.versions?.node === undefined
}
