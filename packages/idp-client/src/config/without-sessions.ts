import { toHostVariable, variableNames } from './env.ts'
import type { OptionRow } from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'
import { without } from './placeholders.ts'
import type { Source } from './readers.ts'
import { isPresent } from './readers.ts'

/** The options, beside those with symbols as keys, that count with `sessions: false`. */
const API_OPTIONS: readonly string[] = [
  'domain',
  'allowInsecureRequests',
  'httpTimeout',
  'enableTelemetry',
  'vendor',
  'appBaseUrl',
  'trustProxy',
  'logger',
  'sessions',
  'sessionStore',
  'dpopOptions',
] satisfies (keyof IdpClientOptions)[]

const isOfSessions = (path: string): boolean => !API_OPTIONS.includes(path.replace(/\..*/, ''))

const rowsOfSessions: readonly (readonly [string, OptionRow])[] = Object.entries(optionRows).filter(
  ([path]) => isOfSessions(path) && !path.startsWith('['),
)

/** Variables of these options, as every host spells them. */
const variablesOfSessions: readonly string[] = rowsOfSessions.flatMap(([, { variable }]) =>
  variable ? [variable, toHostVariable(variable) ?? variable] : [],
)

const hintFor = (option: string): string =>
  option === 'clientId'
    ? ', and name the client in notAudience of idp.resource() to refuse its ID tokens'
    : ''

/**
 * Returns options and variables without those of sessions, logins and the client. Reports such options, which would have no
 * effect; variables may be those of another application.
 */
export function withoutSessions({ addIssue, env, options }: Source): Source {
  const names = rowsOfSessions
    .map(([path]) => path)
    .filter((path) => !path.includes('.') && isPresent(Reflect.get(options, path)))
  for (const name of names)
    addIssue('wrong-option', `${name} has no effect with sessions: false: remove it${hintFor(name)}.`)
  const variables = variableNames.filter((name) => variablesOfSessions.includes(name))
  return { options: without(options, names), env: without(env, variables), addIssue }
}
