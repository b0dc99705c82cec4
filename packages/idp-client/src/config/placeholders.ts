import { isObject } from '../lib/objects.ts'
import { NOT_REPLACED } from './http-url.ts'
import { optionRows } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'
import type { Field, Source } from './readers.ts'
import { getField, isPresent, notice, toName } from './readers.ts'
import { printable } from './unknown-keys.ts'

/** Texts of templates and of conversions of a missing value; none can be meant. */
const LEFT_OVER =
  /^(?:undefined|null|nan|\[object object\]|(?:change|replace|fill)[-_ ]?(?:me|this|in)|todo|tbd|placeholder|x{3,}|\.{3}|<[^>]*>|\$?\{.*\}|\$[a-z_]+)$/i
/** The beginning of values in examples. A provider may have such a host or client id. */
const FROM_EXAMPLE = /^(?:x$|(?:https?:\/\/)?your[-_ ])/i
/** Nobody may use a secret of an example: others know it. */
const SECRET_FROM_EXAMPLE = /^(?:your[-_ ]|(?:change|replace)[-_ ]?(?:me|this))/i

/** A quoted value in a dotenv file, of which `docker run --env-file` keeps the quotes. */
const QUOTED = /^(["']).+\1$/

/** Options that examples fill in, and that every value is possible for. */
const FILLED_IN: readonly string[] = ['domain', 'clientId', 'clientSecret', 'appBaseUrl']

function matches(value: unknown, pattern: RegExp): boolean {
  return [value].flat().some((entry: unknown) => typeof entry === 'string' && pattern.test(entry.trim()))
}

const toValue = ({ given, text }: Field): unknown => (isPresent(given) ? given : text)

function isPlaceholder(field: Field): boolean {
  const value = toValue(field)
  // The readers of URLs name these.
  if ((field.option === 'domain' || field.option === 'appBaseUrl') && matches(value, NOT_REPLACED))
    return false
  const secrets = typeof value === 'string' ? value.split(',') : value
  return matches(value, LEFT_OVER) || (field.option === 'secret' && matches(secrets, SECRET_FROM_EXAMPLE))
}

/** Returns the values without those of these names. */
export function without<Values extends object>(values: Values, names: readonly string[]): Values {
  return names.length === 0
    ? values
    : { ...values, ...Object.fromEntries(names.map((name) => [name, undefined])) }
}

type TextOption = Extract<keyof typeof optionRows, keyof IdpClientOptions>

function isTextOption(name: string): name is TextOption {
  const row: unknown = Reflect.get(optionRows, name)
  return !name.includes('.') && isObject(row) && String(row['kind']).includes('string')
}

const textOptions: readonly TextOption[] = Object.keys(optionRows).filter(isTextOption)

function findParameters(parameters: unknown): readonly string[] {
  if (!isObject(parameters)) return []
  return Object.entries(parameters).flatMap(([name, value]) =>
    matches(value, LEFT_OVER)
      ? [`authorizationParameters.${printable.test(name) ? name : '(a parameter)'}`]
      : [],
  )
}

/**
 * Reports options and variables that hold a placeholder instead of a value, and returns them without those, which count as
 * missing.
 */
export function withoutPlaceholders(source: Source): Source {
  const { addIssue, env, options } = source
  const fields: readonly Field[] = textOptions.map((name) => getField(name, source))
  const found = fields.filter(isPlaceholder)
  for (const name of [...found.map(toName), ...findParameters(options.authorizationParameters)])
    addIssue('missing', `${name} is a placeholder that was not replaced, and counts as missing.`)
  for (const field of fields) {
    if (FILLED_IN.includes(field.option) && matches(toValue(field), FROM_EXAMPLE))
      notice(field, 'looks like a placeholder of an example: replace it by your own value')
    // The readers of URLs and keys handle quotes themselves, and any secret of cookies may have them.
    if ((field.option === 'clientId' || field.option === 'clientSecret') && matches(toValue(field), QUOTED))
      notice(
        field,
        'begins and ends with a quotation mark, which is sent to the provider: remove the quotes (docker run --env-file keeps them)',
      )
  }
  const names = found.map(toName)
  return { options: without(options, names), env: without(env, names), addIssue }
}
