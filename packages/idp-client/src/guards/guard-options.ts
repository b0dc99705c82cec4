import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { GuardRequirements, Requirements } from './requirements.ts'

type Name = keyof GuardRequirements

/** Exactly the members of the type: a forgotten one would be refused, and one too many would not compile. */
const NAMES = ['maxAge', 'acr', 'amr', 'organization', 'scope'] as const satisfies readonly Name[]

/** What may stand in a quoted text of a header as it is: also the alphabet of a scope (RFC 6749 section 3.3). */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/
/** Names of organizations are in any script; they never go into a header. */
const NAME = /^(?=.*\S)[^\p{Cc}\p{Cs}]+$/u
// A login carries no more digits.
const LONGEST_AGE = 9_999_999_999

// Keys are written by the developer, but may be built from anything: only plain ones are repeated.
const printable = /^[\w$-]{1,60}$/

function refuse(what: string): never {
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail: what })
}

function readAge(guard: string, given: unknown): number {
  const isAge = typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= LONGEST_AGE
  return isAge ? given : refuse(`${guard}: maxAge must be a whole number of seconds, 0 or more.`)
}

function readList(guard: string, name: Exclude<Name, 'maxAge'>, given: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(given) ? Array.from(given) : [given]
  const pattern = name === 'organization' ? NAME : TOKEN
  const isText = (entry: unknown): entry is string => typeof entry === 'string' && pattern.test(entry)
  if (entries.length > 0 && entries.every(isText)) return Object.freeze(entries)
  const what =
    name === 'organization' ? 'without control characters' : 'without spaces, quotes and backslashes'
  return refuse(`${guard}: ${name} must be a text or a list of texts, none empty, ${what}.`)
}

/** A scope may be written as the provider gets it. */
function scopesIn(given: unknown): unknown {
  return typeof given === 'string' ? given.split(' ') : given
}

function checkKeys(guard: string, options: object, known: readonly string[]): void {
  for (const key of Reflect.ownKeys(options)) {
    if (typeof key === 'string' && known.includes(key)) continue
    const name = typeof key === 'string' && printable.test(key) ? key : 'a key'
    refuse(`${guard}: ${name} is no option of this guard. It takes ${known.join(', ')}.`)
  }
}

/**
 * What the options of a guard demand, read once, when the guard is made: later changes of the object have no effect.
 * Throws `InvalidConfigurationError` for whatever it does not understand, since a guard that drops a demand is open.
 *
 * @param guard how messages name it: `withPageAuthRequired`.
 * @param further the options that this guard has beside its requirements.
 */
export function readRequirements(
  guard: string,
  options: unknown,
  further: readonly string[] = [],
): Requirements {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return refuse(`${guard}: its options must be an object.`)
  }
  checkKeys(guard, options, [...further, ...NAMES])
  const given: GuardRequirements = options
  const { acr, amr, maxAge, organization } = given
  const scope = scopesIn(given.scope)
  return Object.freeze({
    ...(maxAge === undefined ? {} : { maxAge: readAge(guard, maxAge) }),
    ...(acr === undefined ? {} : { acr: readList(guard, 'acr', acr) }),
    ...(amr === undefined ? {} : { amr: readList(guard, 'amr', amr) }),
    ...(organization === undefined ? {} : { organization: readList(guard, 'organization', organization) }),
    ...(scope === undefined ? {} : { scope: readList(guard, 'scope', scope) }),
  })
}

/** Options in place of a handler; further ones behind them would be without effect. */
export function onlyOptions<Options>(guard: string, options: Options, further: unknown): Options {
  return further === undefined ? options : refuse(`${guard}: options behind something that is no handler.`)
}
