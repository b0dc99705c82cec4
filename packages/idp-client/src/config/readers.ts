import type { Remedy } from '../errors/remedy.ts'
import { isObject } from '../lib/objects.ts'
import type { ProblemKind } from './config.ts'
import type { Env, VariableName } from './env.ts'
import type {
  ChoiceRow,
  FlagRow,
  NumberRow,
  OptionPath,
  OtherRow,
  PathOf,
  TextRow,
  WithDefault,
} from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'

/** Adds a problem. The message never contains a value of the configuration. */
export type AddIssue = (kind: ProblemKind, message: string, remedy?: Remedy) => void

/** Options and variables, and where their mistakes go. */
export interface Source {
  readonly options: IdpClientOptions
  readonly env: Env
  readonly addIssue: AddIssue
}

/** One option: its row, its given value, and the value of its variable, if it has one. */
export interface Field<Row = unknown> {
  /** Path as the documentation writes it: `session.cookie.path`. */
  readonly option: string
  readonly given: unknown
  readonly variable: VariableName | null
  readonly text: string | undefined
  readonly row: Row
  readonly addIssue: AddIssue
}

/** Returns a field without a row: one parameter of an open group, or a variable without an option. */
export function toField(
  option: string,
  given: unknown,
  { addIssue, env }: Source,
  variable?: VariableName,
): Field {
  return {
    option,
    // Trimmed like variables: a value from a file ends with a line break.
    given: typeof given === 'string' ? given.trim() : given,
    variable: variable ?? null,
    text: variable ? env[variable]?.trim() || undefined : undefined,
    row: undefined,
    addIssue,
  }
}

function valueAt(options: IdpClientOptions, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isObject(value) ? Reflect.get(value, key) : undefined), options)
}

/** Returns the field of an option. */
export function getField<Path extends OptionPath>(
  path: Path,
  source: Source,
): Field<(typeof optionRows)[Path]> {
  const row = optionRows[path]
  const variable = 'variable' in row ? row.variable : undefined
  return { ...toField(path, valueAt(source.options, path), source, variable), row }
}

/** Returns the field with changes of its row, which depend on another option. */
export function withRow<Row>(field: Field<Row>, change: Partial<Row>): Field<Row> {
  return { ...field, row: { ...field.row, ...change } }
}

/** Returns whether an option has a value: undefined, null and an empty string count as absent. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

export function isSet(field: Field): boolean {
  return isPresent(field.given) || field.text !== undefined
}

/** Returns whether the value comes from the variable, because the option is absent. */
function isFromVariable(field: Field): boolean {
  return !isPresent(field.given) && field.text !== undefined
}

/** Returns the name of what the application has set: the option or its variable. */
export function toName(field: Field): string {
  return (isFromVariable(field) && field.variable) || field.option
}

/** Adds the problem of a required option that is not set. `hint` follows the ways to set it. */
export function missing({ addIssue, option, variable }: Field, hint = ''): undefined {
  const orVariable = variable ? ` or the variable ${variable}` : ''
  addIssue('missing', `${option} is missing: set the option ${option}${orVariable}${hint}.`)
  return undefined
}

/** Returns the kind of problem: an invalid option makes the constructor throw, an invalid variable the first use. */
export function wrongKind(field: Field): 'wrong-option' | 'wrong-variable' {
  return isFromVariable(field) ? 'wrong-variable' : 'wrong-option'
}

/** Adds the problem of an invalid value. `what` completes the sentence after the name: "must be a boolean". */
export function invalid(field: Field, what: string): undefined {
  field.addIssue(wrongKind(field), `${toName(field)} ${what}.`)
  return undefined
}

/** Adds a notice about an option that is set, in the same form. */
export function notice(field: Field, what: string): void {
  field.addIssue('notice', `${toName(field)} ${what}.`)
}

export function readText(field: Field<WithDefault<TextRow>>): string
export function readText(field: Field<TextRow | OtherRow>): string | undefined
export function readText(field: Field<TextRow | OtherRow>): string | undefined {
  const fallback = 'default' in field.row ? field.row.default : undefined
  if (!isPresent(field.given)) return field.text ?? fallback
  if (typeof field.given === 'string') return field.given
  return invalid(field, 'must be a string') ?? fallback
}

/** Returns the string of a required option. Adds a problem if it is not set, as `missing`. */
export function readRequired(field: Field<TextRow>, hint?: string): string | undefined {
  const text = readText(field)
  return text === undefined && !isSet(field) ? missing(field, hint) : text
}

/** Converts a value to a boolean, if it is one: `true` or `false` as an option, also `1` or `0` as a variable. */
function toFlag({ given, text = '' }: Field): unknown {
  if (isPresent(given)) return given
  return /^(true|1)$/i.test(text) || (/^(false|0)$/i.test(text) ? false : undefined)
}

export function readFlag(field: Field<WithDefault<FlagRow>>): boolean
export function readFlag(field: Field<FlagRow>): boolean | undefined
export function readFlag(field: Field<FlagRow>): boolean | undefined {
  const flag = toFlag(field)
  if (typeof flag === 'boolean') return flag
  if (isSet(field)) invalid(field, 'must be true or false')
  return field.row.default
}

const decimal = /^-?\d+(?:\.\d+)?$/

function asNumber(field: Field): unknown {
  if (isPresent(field.given)) return field.given
  return field.text !== undefined && decimal.test(field.text) ? Number(field.text) : field.text
}

/** Returns an integer within the range of the row. Truncates fractions, because cookies and token requests use integers. */
export function readNumber(field: Field<NumberRow>): number {
  const { default: fallback, max, min, unit } = field.row
  const value = asNumber(field)
  if (!isPresent(value)) return fallback
  if (typeof value === 'number' && value >= min && value <= max) return Math.trunc(value)
  return invalid(field, `must be a number of ${unit} from ${min} to ${max}`) ?? fallback
}

export function readOneOf<T extends string>(field: Field<WithDefault<ChoiceRow<T>>>): T
export function readOneOf<T extends string>(field: Field<ChoiceRow<T>>): T | undefined
export function readOneOf<T extends string>(field: Field<ChoiceRow<T>>): T | undefined {
  const { default: fallback, values } = field.row
  const value = isPresent(field.given) ? field.given : field.text?.toLowerCase()
  const found = values.find((entry) => entry === value)
  if (found === undefined && isSet(field)) {
    invalid(field, `must be one of ${values.map((entry) => `'${entry}'`).join(', ')}`)
  }
  return found ?? fallback
}

/** Returns a callback of the application. At run time only its being a function can be checked. */
export function readFunction<T extends (...parameters: never[]) => unknown>(
  option: PathOf<{ readonly kind: 'function' }>,
  given: T | undefined,
  source: Source,
): T | undefined {
  if (!isPresent(given)) return undefined
  return typeof given === 'function' ? given : invalid(toField(option, given, source), 'must be a function')
}

/** Returns the properties of an object; empty, with a problem, for any other value. */
export function readGroup<T extends object>(
  option: string,
  given: T | undefined,
  source: Source,
): Partial<T> {
  if (!isPresent(given)) return {}
  if (isObject(given)) return given
  invalid(toField(option, given, source), 'must be an object')
  return {}
}
