import { readNodeEnv, readVariable } from '../lib/node-env.ts'
import { isEdgeRuntime } from '../lib/runtime.ts'

// Hosts without Node types (and edge runtimes without the object at all) get by with this.
declare const process: { readonly env: Env }

type Value = string | undefined

/**
 * One function per variable, each with the whole expression: bundlers put values in place of `process.env.NAME` only
 * where it is written out, and do so even where no `process` exists. `NODE_ENV` is read at run time as well.
 */
const variables = {
  NODE_ENV: (): Value => readNodeEnv(),
  APP_BASE_URL: (): Value => process.env.APP_BASE_URL,
  IDP_DOMAIN: (): Value => process.env.IDP_DOMAIN,
  IDP_CLIENT_ID: (): Value => process.env.IDP_CLIENT_ID,
  IDP_CLIENT_SECRET: (): Value => process.env.IDP_CLIENT_SECRET,
  IDP_CLIENT_ASSERTION_SIGNING_KEY: (): Value => process.env.IDP_CLIENT_ASSERTION_SIGNING_KEY,
  IDP_CLIENT_ASSERTION_SIGNING_ALG: (): Value => process.env.IDP_CLIENT_ASSERTION_SIGNING_ALG,
  IDP_CLIENT_ASSERTION_AUDIENCE: (): Value => process.env.IDP_CLIENT_ASSERTION_AUDIENCE,
  IDP_TOKEN_ENDPOINT_AUTH_METHOD: (): Value => process.env.IDP_TOKEN_ENDPOINT_AUTH_METHOD,
  IDP_ID_TOKEN_SIGNED_RESPONSE_ALG: (): Value => process.env.IDP_ID_TOKEN_SIGNED_RESPONSE_ALG,
  IDP_SECRET: (): Value => process.env.IDP_SECRET,
  IDP_COOKIE_SECURE: (): Value => process.env.IDP_COOKIE_SECURE,
  IDP_COOKIE_SAME_SITE: (): Value => process.env.IDP_COOKIE_SAME_SITE,
  IDP_COOKIE_PATH: (): Value => process.env.IDP_COOKIE_PATH,
  IDP_COOKIE_DOMAIN: (): Value => process.env.IDP_COOKIE_DOMAIN,
  IDP_COOKIE_TRANSIENT: (): Value => process.env.IDP_COOKIE_TRANSIENT,
  IDP_DPOP_PUBLIC_KEY: (): Value => process.env.IDP_DPOP_PUBLIC_KEY,
  IDP_DPOP_PRIVATE_KEY: (): Value => process.env.IDP_DPOP_PRIVATE_KEY,
  IDP_DPOP_CLOCK_SKEW: (): Value => process.env.IDP_DPOP_CLOCK_SKEW,
  IDP_DPOP_CLOCK_TOLERANCE: (): Value => process.env.IDP_DPOP_CLOCK_TOLERANCE,
  IDP_RETRY_DELAY: (): Value => process.env.IDP_RETRY_DELAY,
  IDP_RETRY_JITTER: (): Value => process.env.IDP_RETRY_JITTER,
  IDP_MFA_TOKEN_TTL: (): Value => process.env.IDP_MFA_TOKEN_TTL,
  FRAMEWORK_PUBLIC_BASE_PATH: (): Value => process.env.FRAMEWORK_PUBLIC_BASE_PATH,
  FRAMEWORK_PUBLIC_LOGIN_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_LOGIN_ROUTE,
  FRAMEWORK_PUBLIC_PROFILE_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_PROFILE_ROUTE,
  FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE,
  FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE: (): Value =>
    process.env.FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
  FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE,
  FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE,
  FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE: (): Value => process.env.FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE,
  NEXT_PUBLIC_BASE_PATH: (): Value => process.env.NEXT_PUBLIC_BASE_PATH,
  NEXT_PUBLIC_LOGIN_ROUTE: (): Value => process.env.NEXT_PUBLIC_LOGIN_ROUTE,
  NEXT_PUBLIC_PROFILE_ROUTE: (): Value => process.env.NEXT_PUBLIC_PROFILE_ROUTE,
  NEXT_PUBLIC_ACCESS_TOKEN_ROUTE: (): Value => process.env.NEXT_PUBLIC_ACCESS_TOKEN_ROUTE,
  NEXT_PUBLIC_MFA_AUTHENTICATORS_ROUTE: (): Value => process.env.NEXT_PUBLIC_MFA_AUTHENTICATORS_ROUTE,
  NEXT_PUBLIC_MFA_CHALLENGE_ROUTE: (): Value => process.env.NEXT_PUBLIC_MFA_CHALLENGE_ROUTE,
  NEXT_PUBLIC_MFA_ASSOCIATE_ROUTE: (): Value => process.env.NEXT_PUBLIC_MFA_ASSOCIATE_ROUTE,
  NEXT_PUBLIC_MFA_VERIFY_ROUTE: (): Value => process.env.NEXT_PUBLIC_MFA_VERIFY_ROUTE,
} as const

/** Name of a variable: a row of the table above. */
export type VariableName = keyof typeof variables

/** Values of environment variables, trimmed; an empty one is absent. */
export type Env = { readonly [Name in VariableName]?: Value }

/** The names of all variables; the reference of variables is checked against it. */
export const variableNames: readonly VariableName[] = Object.freeze(Object.keys(variables) as VariableName[])

/** Returns a host's name of a public variable: `NEXT_PUBLIC_LOGIN_ROUTE` for `FRAMEWORK_PUBLIC_LOGIN_ROUTE`. */
export function toHostVariable(variable: VariableName): VariableName | undefined {
  return variableNames.find((name) => name !== variable && name === variable.replace(/^FRAMEWORK_/, 'NEXT_'))
}

/** Reads all variables now: `FRAMEWORK_PUBLIC_*` always, `NEXT_PUBLIC_*` only for Next.js. */
export function readEnv(host?: 'next'): Env {
  const env: { [Name in VariableName]?: string } = {}
  for (const name of variableNames) {
    if (host !== 'next' && name.startsWith('NEXT_PUBLIC_')) continue
    const value = readVariable(variables[name])
    if (value !== undefined) env[name] = value
  }
  return env
}

interface Runtime {
  readonly document?: unknown
  readonly process?: { readonly versions?: { readonly node?: string } }
}

/**
 * Returns whether this is a page of a browser: there is a document, but neither Node.js (where tests may define
 * one) nor an edge runtime. Reads the global object, because Next.js warns about everything but `process.env` in an
 * edge build.
 */
export function isBrowser(): boolean {
  const { document, process: host } = globalThis as Runtime
  return document !== undefined && !isEdgeRuntime() && host?.versions?.node === undefined
}
