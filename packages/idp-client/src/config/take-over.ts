import type { Clock } from '../lib/clock.ts'
import { defined, isObject } from '../lib/objects.ts'
import type { TakeOver } from '../take-over/take-over.ts'
import type { TakeOverConfig } from './config.ts'
import type { SessionDataStore } from './options.ts'
import type { Field, Source } from './readers.ts'
import { getField, invalid, isPresent, notice, toField } from './readers.ts'

const OPTION = 'takeOver'

/** Longest time until the end, in days: a former secret is not kept for good. */
const MAX_DAYS = 90

const DAY_SECONDS = 86_400

const PROPERTIES: readonly string[] = [
  'until',
  'cookies',
  'library',
  'path',
  'domain',
  'read',
] satisfies (keyof TakeOver)[]

/** Functions that a store needs, so that a session that has ended is not taken over again. */
const STORE_FUNCTIONS = ['lock', 'once', 'endedAt', 'rememberEnd'] satisfies (keyof SessionDataStore)[]

const DATE = /^\d{4}-\d{2}-\d{2}$/
const LIBRARY = /^[\w.@/-]{1,60}$/
const COOKIE_NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/

/** Returns the start of a day in UTC, in seconds since the epoch. */
function readUntil(given: unknown, source: Source, now: number): number | undefined {
  const field = toField(`${OPTION}.until`, given, source)
  const milliseconds = typeof given === 'string' && DATE.test(given) ? Date.parse(given) : Number.NaN
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 10) !== given)
    return invalid(field, "must be a date in the source code, in the form 'YYYY-MM-DD'")
  const until = milliseconds / 1000
  if (until > now + MAX_DAYS * DAY_SECONDS)
    return invalid(field, `must be at most ${MAX_DAYS} days ahead when the process starts`)
  return until
}

function readNames(given: unknown, source: Source): readonly string[] {
  const names: readonly unknown[] = isPresent(given) ? [given].flat() : []
  const valid = names.filter((name) => typeof name === 'string' && COOKIE_NAME.test(name)) as string[]
  if (names.length > 0 && valid.length === names.length) return valid
  invalid(toField(`${OPTION}.cookies`, given, source), 'must be a name of a cookie, or an array of names')
  return []
}

function readString(name: 'domain' | 'library' | 'path', given: unknown, source: Source): string | undefined {
  if (!isPresent(given)) return undefined
  if (typeof given === 'string' && (name !== 'library' || LIBRARY.test(given))) return given
  const what =
    name === 'library' ? 'must be a name of up to 60 letters, digits, . _ @ / -' : 'must be a string'
  return invalid(toField(`${OPTION}.${name}`, given, source), what)
}

function checkStore(field: Field, store: SessionDataStore | undefined): void {
  const missing = store && STORE_FUNCTIONS.find((name) => typeof store[name] !== 'function')
  if (missing)
    invalid(
      field,
      `requires a sessionStore with the functions ${STORE_FUNCTIONS.join(', ')}: it has no ${missing}`,
    )
}

/** Reads how former sessions are taken over. Absent without the option, and once its time is over. */
export function resolveTakeOver(source: Source, clock: Clock): TakeOverConfig | undefined {
  const field = getField(OPTION, source)
  const { takeOver } = source.options
  if (!isPresent(takeOver) || takeOver === undefined) return undefined
  if (!isObject(takeOver)) return invalid(field, 'must be an object')
  const { cookies: names, domain, library, path, read, until: date } = takeOver
  if (Object.keys(takeOver).some((name) => !PROPERTIES.includes(name)))
    invalid(field, `has an unknown property; there are ${PROPERTIES.join(', ')}`)
  const until = readUntil(date, source, clock())
  const cookies = readNames(names, source)
  const given = defined({
    library: readString('library', library, source),
    path: readString('path', path, source),
    domain: readString('domain', domain, source),
  })
  checkStore(field, source.options.sessionStore)
  if (typeof read !== 'function')
    return invalid(toField(`${OPTION}.read`, read, source), 'must be a function')
  if (until === undefined) return undefined
  if (until > clock())
    return {
      library: 'custom',
      path: '/',
      ...given,
      until,
      cookies,
      read: (found) => read.call(takeOver, found),
    }
  notice(field, 'has no effect since its date until is past: remove it, and the secret of the former library')
  return undefined
}
