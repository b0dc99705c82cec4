import { printable, toCorrection } from '../config/unknown-keys.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import { defined, isPlainObject } from '../lib/objects.ts'
import type { GuardRequirements, Requirements } from './requirements.ts'

type Name = keyof GuardRequirements
type ListName = Exclude<Name, 'maxAge' | 'authorize'>

/** All names of requirements: readRequirements throws for any other option. */
const NAMES = [
  'maxAge',
  'acr',
  'amr',
  'organization',
  'scope',
  'authorize',
] as const satisfies readonly Name[]

/** Characters of a quoted string that need no escaping; also the alphabet of a scope (RFC 6749 section 3.3). */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** Names of organizations may use any script; they never appear in a header. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u
/** Seconds: `max_age` has at most 10 digits. */
const LONGEST_AGE = 9_999_999_999

function refuse(detail: string): never {
  throw invalidConfiguration(detail)
}

function readAge(guard: string, value: unknown): number {
  const isAge = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LONGEST_AGE
  return isAge ? value : refuse(`${guard}: maxAge must be an integer number of seconds, 0 or more.`)
}

/** Returns a flag of a guard; false by default. */
export function readFlag(guard: string, name: string, value: unknown): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false
  return refuse(`${guard}: ${name} must be true or false.`)
}

function readList(guard: string, name: ListName, value: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  const pattern = name === 'organization' ? NAME : TOKEN
  const isValid = (entry: unknown): entry is string => typeof entry === 'string' && pattern.test(entry)
  if (entries.length > 0 && entries.every(isValid)) return Object.freeze(entries)
  const rule =
    name === 'organization' ? 'without control characters' : 'without spaces, quotes and backslashes'
  return refuse(`${guard}: ${name} must be a non-empty string or a list of them, ${rule}.`)
}

function checkKeys(guard: string, options: object, known: readonly string[]): void {
  for (const key of Reflect.ownKeys(options)) {
    if (typeof key === 'string' && known.includes(key)) continue
    const name = typeof key === 'string' ? key : ''
    const shown = printable.test(name) ? name : 'a key'
    refuse(`${guard}: ${shown} is not an option of this guard. ${toCorrection(name, known)}`)
  }
}

/**
 * Validates the options of a guard and returns its requirements. Called once, when the guard is created: later changes
 * of the object have no effect. Throws `InvalidConfigurationError` for anything unknown, because a guard that ignored a
 * requirement would fail open.
 *
 * @param guard name for messages, such as `withPageAuthRequired`.
 * @param further names of the options that this guard has in addition to its requirements.
 */
export function readRequirements(
  guard: string,
  options: unknown,
  further: readonly string[] = [],
): Requirements {
  // A `Map` or a promise would have no requirements.
  if (!isPlainObject(options))
    return refuse(`${guard}: its options must be a plain object, no promise of one.`)
  checkKeys(guard, options, [...further, ...NAMES])
  const { acr, amr, authorize, maxAge, organization, scope }: GuardRequirements = options
  // Also if it is undefined: a function that was not found must not let everybody pass.
  if ('authorize' in options && typeof authorize !== 'function')
    return refuse(`${guard}: authorize must be a function.`)
  const list = (name: ListName, value: unknown): readonly string[] | undefined =>
    value === undefined ? undefined : readList(guard, name, value)
  const requirements = defined({
    maxAge: maxAge === undefined ? undefined : readAge(guard, maxAge),
    acr: list('acr', acr),
    amr: list('amr', amr),
    organization: list('organization', organization),
    // Space-delimited.
    scope: list('scope', typeof scope === 'string' ? scope.split(' ') : scope),
    authorize,
  })
  return Object.freeze(requirements)
}

/** Returns options that were passed in place of a handler. Throws for a further argument, which would have no effect. */
export function onlyOptions<Options>(guard: string, options: Options, further: unknown): Options {
  return further === undefined
    ? options
    : refuse(`${guard}: options were passed after an argument that is not a handler.`)
}
