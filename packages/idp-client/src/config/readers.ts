import type { Remedy } from '../errors/remedies.ts'
import type { ProblemKind } from './config.ts'
import type { Env, VariableName } from './env.ts'

/** Takes down a problem. The message is our own text and never holds a value. */
export type AddIssue = (kind: ProblemKind, message: string, remedy?: Remedy) => void

/** One setting: what the option holds and what its variable says, if it has one. */
export interface Field {
  /** Path as the documentation writes it: `session.cookie.path`. */
  readonly option: string
  readonly given: unknown
  readonly variable: VariableName | null
  readonly text: string | undefined
}

export function field(option: string, given: unknown, env?: Env, variable?: VariableName): Field {
  return {
    option,
    // As variables are read: a value from a file ends with a line break, and a blank one is left out.
    given: typeof given === 'string' ? given.trim() : given,
    variable: variable ?? null,
    text: variable ? env?.[variable]?.trim() || undefined : undefined,
  }
}

/** Whether the option itself decides: undefined, null and the empty text count as left out. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

export function isSet(setting: Field): boolean {
  return isPresent(setting.given) || setting.text !== undefined
}

/** The name under which the application set the value: the option, or its variable. */
export function toName(setting: Field): string {
  return !isPresent(setting.given) && setting.text !== undefined && setting.variable
    ? setting.variable
    : setting.option
}

/** How to provide the setting, for messages about what is missing. */
export function waysToSet(setting: Field): string {
  return setting.variable
    ? `set the option ${setting.option} or the variable ${setting.variable}`
    : `set the option ${setting.option}`
}

/** The decision "when": a wrong option makes the constructor throw, a wrong variable waits for the first use. */
export function wrongKind(setting: Field): 'wrong-option' | 'wrong-variable' {
  return !isPresent(setting.given) && setting.text !== undefined ? 'wrong-variable' : 'wrong-option'
}

/** `what` completes the sentence after the name: "must be a boolean". */
export function invalid(setting: Field, addIssue: AddIssue, what: string): undefined {
  addIssue(wrongKind(setting), `${toName(setting)} ${what}.`)
  return undefined
}

export function readText(setting: Field, addIssue: AddIssue): string | undefined {
  if (!isPresent(setting.given)) return setting.text
  if (typeof setting.given === 'string') return setting.given
  return invalid(setting, addIssue, 'must be a string')
}

export function readFlag(setting: Field, addIssue: AddIssue): boolean | undefined {
  if (isPresent(setting.given)) {
    return typeof setting.given === 'boolean'
      ? setting.given
      : invalid(setting, addIssue, 'must be true or false')
  }
  switch (setting.text?.toLowerCase()) {
    case undefined:
      return undefined
    case 'true':
    case '1':
      return true
    case 'false':
    case '0':
      return false
    default:
      return invalid(setting, addIssue, 'must be true or false')
  }
}

export interface Range {
  readonly min: number
  readonly max: number
  readonly unit: 'seconds' | 'milliseconds' | 'bytes'
}

/** Milliseconds: timers take no more than 31 bits of them; beyond it they would fire at once. */
export const longestTimer = 2_147_483_647

const decimal = /^-?\d+(?:\.\d+)?$/

function asNumber(setting: Field): unknown {
  if (isPresent(setting.given)) return setting.given
  return setting.text !== undefined && decimal.test(setting.text) ? Number(setting.text) : setting.text
}

/** A whole number: fractions are cut off, since cookies and token requests carry whole seconds. */
export function readNumber(setting: Field, range: Range, addIssue: AddIssue): number | undefined {
  const value = asNumber(setting)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'number' && Number.isFinite(value) && value >= range.min && value <= range.max) {
    return Math.trunc(value)
  }
  return invalid(setting, addIssue, `must be a number of ${range.unit} from ${range.min} to ${range.max}`)
}

export function readOneOf<T extends string>(
  setting: Field,
  allowed: readonly T[],
  addIssue: AddIssue,
): T | undefined {
  const value = isPresent(setting.given) ? setting.given : setting.text?.toLowerCase()
  if (value === undefined) return undefined
  const found = allowed.find((entry) => entry === value)
  return (
    found ?? invalid(setting, addIssue, `must be one of ${allowed.map((entry) => `'${entry}'`).join(', ')}`)
  )
}

/** A callback of the application. Its type is what the option declares; at run time only "callable" can be checked. */
export function readFunction<T extends (...parameters: never[]) => unknown>(
  option: string,
  given: T | undefined,
  addIssue: AddIssue,
): T | undefined {
  if (!isPresent(given)) return undefined
  return typeof given === 'function' ? given : invalid(field(option, given), addIssue, 'must be a function')
}

/** The members of a group option (`session`, `routes`); anything but an object is refused and read as empty. */
export function readGroup<T extends object>(
  option: string,
  given: T | undefined,
  addIssue: AddIssue,
): Partial<T> {
  if (!isPresent(given)) return {}
  if (typeof given === 'object' && !Array.isArray(given)) return given
  invalid(field(option, given), addIssue, 'must be an object')
  return {}
}
