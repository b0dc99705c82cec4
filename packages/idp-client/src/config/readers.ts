import type { Remedy } from '../errors/remedies.ts'
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

/** Takes down a problem. The message is our own text and never holds a value. */
export type AddIssue = (kind: ProblemKind, message: string, remedy?: Remedy) => void

/** One setting: its row, what the option holds, and what its variable says, if it has one. */
export interface Field<Row = unknown> {
  /** Path as the documentation writes it: `session.cookie.path`. */
  readonly option: string
  readonly given: unknown
  readonly variable: VariableName | null
  readonly text: string | undefined
  readonly row: Row
}

/** A setting without a row: one parameter of an open group, or a variable without an option. */
export function toField(option: string, given: unknown, env?: Env, variable?: VariableName): Field {
  return {
    option,
    // As variables are read: a value from a file ends with a line break, and a blank one is left out.
    given: typeof given === 'string' ? given.trim() : given,
    variable: variable ?? null,
    text: variable ? env?.[variable]?.trim() || undefined : undefined,
    row: undefined,
  }
}

/** Whether a value has properties of its own to read: an object, but no list. */
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

/** The setting of an option; without `env` only for options that have no variable. */
export function field<Path extends Exclude<OptionPath, WithVariable>>(
  path: Path,
  options: IdpClientOptions,
): Field<RowAt<Path>>
export function field<Path extends OptionPath>(
  path: Path,
  options: IdpClientOptions,
  env: Env,
): Field<RowAt<Path>>
export function field(path: OptionPath, options: IdpClientOptions, env?: Env): Field<OptionRow> {
  const row: OptionRow = optionRows[path]
  return { ...toField(path, valueAt(options, path), env, row.variable), row }
}

/** The same setting where another one decides a part of its row. */
export function withRow<Row>(setting: Field<Row>, change: Partial<Row>): Field<Row> {
  return { ...setting, row: { ...setting.row, ...change } }
}

/** Whether the option itself decides: undefined, null and the empty text count as left out. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

export function isSet(setting: Field): boolean {
  return isPresent(setting.given) || setting.text !== undefined
}

/** Whether the variable decides, since the option is left out. */
function isFromVariable(setting: Field): boolean {
  return !isPresent(setting.given) && setting.text !== undefined
}

/** The name under which the application set the value: the option, or its variable. */
export function toName(setting: Field): string {
  return (isFromVariable(setting) && setting.variable) || setting.option
}

/** How to provide the setting, for messages about what is missing. */
export function waysToSet({ option, variable }: Field): string {
  return `set the option ${option}${variable ? ` or the variable ${variable}` : ''}`
}

/** The decision "when": a wrong option makes the constructor throw, a wrong variable waits for the first use. */
export function wrongKind(setting: Field): 'wrong-option' | 'wrong-variable' {
  return isFromVariable(setting) ? 'wrong-variable' : 'wrong-option'
}

/** `what` completes the sentence after the name: "must be a boolean". */
export function invalid(setting: Field, addIssue: AddIssue, what: string): undefined {
  addIssue(wrongKind(setting), `${toName(setting)} ${what}.`)
  return undefined
}

export function readText(setting: Field<WithDefault<TextRow>>, addIssue: AddIssue): string
export function readText(setting: Field<TextRow | OtherRow>, addIssue: AddIssue): string | undefined
export function readText(setting: Field<TextRow | OtherRow>, addIssue: AddIssue): string | undefined {
  const fallback = 'default' in setting.row ? setting.row.default : undefined
  if (!isPresent(setting.given)) return setting.text ?? fallback
  if (typeof setting.given === 'string') return setting.given
  return invalid(setting, addIssue, 'must be a string') ?? fallback
}

/** An option has to be a boolean; a variable may spell one in two ways. */
function toFlag({ given, text = '' }: Field): unknown {
  if (isPresent(given)) return given
  return /^(true|1)$/i.test(text) || (/^(false|0)$/i.test(text) ? false : undefined)
}

export function readFlag(setting: Field<WithDefault<FlagRow>>, addIssue: AddIssue): boolean
export function readFlag(setting: Field<FlagRow>, addIssue: AddIssue): boolean | undefined
export function readFlag(setting: Field<FlagRow>, addIssue: AddIssue): boolean | undefined {
  const flag = toFlag(setting)
  if (typeof flag === 'boolean') return flag
  if (isSet(setting)) invalid(setting, addIssue, 'must be true or false')
  return setting.row.default
}

const decimal = /^-?\d+(?:\.\d+)?$/

function asNumber(setting: Field): unknown {
  if (isPresent(setting.given)) return setting.given
  return setting.text !== undefined && decimal.test(setting.text) ? Number(setting.text) : setting.text
}

/** An integer within the range of the row. Fractions are cut off: cookies and token requests carry whole seconds. */
export function readNumber(setting: Field<NumberRow>, addIssue: AddIssue): number {
  const { default: fallback, max, min, unit } = setting.row
  const value = asNumber(setting)
  if (!isPresent(value)) return fallback
  if (typeof value === 'number' && value >= min && value <= max) return Math.trunc(value)
  return invalid(setting, addIssue, `must be a number of ${unit} from ${min} to ${max}`) ?? fallback
}

export function readOneOf<T extends string>(setting: Field<WithDefault<ChoiceRow<T>>>, addIssue: AddIssue): T
export function readOneOf<T extends string>(setting: Field<ChoiceRow<T>>, addIssue: AddIssue): T | undefined
export function readOneOf<T extends string>(setting: Field<ChoiceRow<T>>, addIssue: AddIssue): T | undefined {
  const { default: fallback, values } = setting.row
  const value = isPresent(setting.given) ? setting.given : setting.text?.toLowerCase()
  const found = values.find((entry) => entry === value)
  if (found === undefined && isSet(setting)) {
    invalid(setting, addIssue, `must be one of ${values.map((entry) => `'${entry}'`).join(', ')}`)
  }
  return found ?? fallback
}

/** A callback of the application. Its type is what the option declares; at run time only "callable" can be checked. */
export function readFunction<T extends (...parameters: never[]) => unknown>(
  option: PathOf<{ readonly kind: 'function' }>,
  given: T | undefined,
  addIssue: AddIssue,
): T | undefined {
  if (!isPresent(given)) return undefined
  return typeof given === 'function' ? given : invalid(toField(option, given), addIssue, 'must be a function')
}

/** The properties of an object; anything else is refused and read as empty. */
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
