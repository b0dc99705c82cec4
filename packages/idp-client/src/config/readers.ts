import type { Remedy } from '../errors/remedy.ts'
import type { ProblemKind } from './config.ts'
import type { Env, VariableName } from './env.ts'
import type {
  ChoiceRow,
  FlagRow,
  NumberRow,
  OptionPath,
  OptionRow,
  OtherRow,
  PathOf,
  TextRow,
  WithDefault,
} from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'

/** Adds a problem. The message never contains a value of the configuration. */
export type AddIssue = (kind: ProblemKind, message: string, remedy?: Remedy) => void

/** One option: its row, its given value, and the value of its variable, if it has one. */
export interface Field<Row = unknown> {
  /** Path as the documentation writes it: `session.cookie.path`. */
  readonly option: string
  readonly given: unknown
  readonly variable: VariableName | null
  readonly text: string | undefined
  readonly row: Row
}

/** Returns a field without a row: one parameter of an open group, or a variable without an option. */
export function toField(option: string, given: unknown, env?: Env, variable?: VariableName): Field {
  return {
    option,
    // Trimmed like variables: a value from a file ends with a line break.
    given: typeof given === 'string' ? given.trim() : given,
    variable: variable ?? null,
    text: variable ? env?.[variable]?.trim() || undefined : undefined,
    row: undefined,
  }
}

/** Returns whether a value is an object and not an array. */
export function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(options: IdpClientOptions, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (isGroup(value) ? Reflect.get(value, key) : undefined), options)
}

type WithVariable = PathOf<{ readonly variable: VariableName }>
type RowAt<Path extends OptionPath> = (typeof optionRows)[Path]

/** Returns the field of an option. `env` may be omitted only for options without a variable. */
export function getField<Path extends Exclude<OptionPath, WithVariable>>(
  path: Path,
  options: IdpClientOptions,
): Field<RowAt<Path>>
export function getField<Path extends OptionPath>(
  path: Path,
  options: IdpClientOptions,
  env: Env,
): Field<RowAt<Path>>
export function getField(path: OptionPath, options: IdpClientOptions, env?: Env): Field<OptionRow> {
  const row: OptionRow = optionRows[path]
  return { ...toField(path, valueAt(options, path), env, row.variable), row }
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

/** Returns how to set the option, for messages about missing ones. */
export function waysToSet({ option, variable }: Field): string {
  return `set the option ${option}${variable ? ` or the variable ${variable}` : ''}`
}

/** Returns the kind of problem: an invalid option makes the constructor throw, an invalid variable the first use. */
export function wrongKind(field: Field): 'wrong-option' | 'wrong-variable' {
  return isFromVariable(field) ? 'wrong-variable' : 'wrong-option'
}

/** Adds the problem of an invalid value. `what` completes the sentence after the name: "must be a boolean". */
export function invalid(field: Field, addIssue: AddIssue, what: string): undefined {
  addIssue(wrongKind(field), `${toName(field)} ${what}.`)
  return undefined
}

export function readText(field: Field<WithDefault<TextRow>>, addIssue: AddIssue): string
export function readText(field: Field<TextRow | OtherRow>, addIssue: AddIssue): string | undefined
export function readText(field: Field<TextRow | OtherRow>, addIssue: AddIssue): string | undefined {
  const fallback = 'default' in field.row ? field.row.default : undefined
  if (!isPresent(field.given)) return field.text ?? fallback
  if (typeof field.given === 'string') return field.given
  return invalid(field, addIssue, 'must be a string') ?? fallback
}

/** Converts a value to a boolean, if it is one: `true` or `false` as an option, also `1` or `0` as a variable. */
function toFlag({ given, text = '' }: Field): unknown {
  if (isPresent(given)) return given
  return /^(true|1)$/i.test(text) || (/^(false|0)$/i.test(text) ? false : undefined)
}

export function readFlag(field: Field<WithDefault<FlagRow>>, addIssue: AddIssue): boolean
export function readFlag(field: Field<FlagRow>, addIssue: AddIssue): boolean | undefined
export function readFlag(field: Field<FlagRow>, addIssue: AddIssue): boolean | undefined {
  const flag = toFlag(field)
  if (typeof flag === 'boolean') return flag
  if (isSet(field)) invalid(field, addIssue, 'must be true or false')
  return field.row.default
}

const decimal = /^-?\d+(?:\.\d+)?$/

function asNumber(field: Field): unknown {
  if (isPresent(field.given)) return field.given
  return field.text !== undefined && decimal.test(field.text) ? Number(field.text) : field.text
}

/** Returns an integer within the range of the row. Truncates fractions, because cookies and token requests use integers. */
export function readNumber(field: Field<NumberRow>, addIssue: AddIssue): number {
  const { default: fallback, max, min, unit } = field.row
  const value = asNumber(field)
  if (!isPresent(value)) return fallback
  if (typeof value === 'number' && value >= min && value <= max) return Math.trunc(value)
  return invalid(field, addIssue, `must be a number of ${unit} from ${min} to ${max}`) ?? fallback
}

export function readOneOf<T extends string>(field: Field<WithDefault<ChoiceRow<T>>>, addIssue: AddIssue): T
export function readOneOf<T extends string>(field: Field<ChoiceRow<T>>, addIssue: AddIssue): T | undefined
export function readOneOf<T extends string>(field: Field<ChoiceRow<T>>, addIssue: AddIssue): T | undefined {
  const { default: fallback, values } = field.row
  const value = isPresent(field.given) ? field.given : field.text?.toLowerCase()
  const found = values.find((entry) => entry === value)
  if (found === undefined && isSet(field)) {
    invalid(field, addIssue, `must be one of ${values.map((entry) => `'${entry}'`).join(', ')}`)
  }
  return found ?? fallback
}

/** Returns a callback of the application. At run time only its being a function can be checked. */
export function readFunction<T extends (...parameters: never[]) => unknown>(
  option: PathOf<{ readonly kind: 'function' }>,
  given: T | undefined,
  addIssue: AddIssue,
): T | undefined {
  if (!isPresent(given)) return undefined
  return typeof given === 'function' ? given : invalid(toField(option, given), addIssue, 'must be a function')
}

/** Returns the properties of an object; empty, with a problem, for any other value. */
export function readGroup<T extends object>(
  option: string,
  given: T | undefined,
  addIssue: AddIssue,
): Partial<T> {
  if (!isPresent(given)) return {}
  if (isGroup(given)) return given
  invalid(toField(option, given), addIssue, 'must be an object')
  return {}
}
