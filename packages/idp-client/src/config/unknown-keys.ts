import { editDistance } from '../lib/edit-distance.ts'
import type { OptionRow } from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { Source } from './readers.ts'
import { readGroup } from './readers.ts'

const rows: Readonly<Record<string, OptionRow>> = optionRows

/** Every option whose key is a string, nested ones with their path (`session.cookie.name`). */
export const optionPaths: readonly string[] = Object.keys(rows).filter((path) => !path.startsWith('['))

/** Names that examples and other libraries use for an option of ours, which no similarity of letters would find. */
const aliases: Readonly<Record<string, string>> = {
  'session.rollingDuration': 'session.inactivityDuration',
  'session.idleDuration': 'session.inactivityDuration',
  'session.store': 'sessionStore',
  'transactionCookie.duration': 'transactionCookie.maxAge',
  'transactionCookie.name': 'transactionCookie.prefix',
  'routes.backchannelLogout': 'routes.backChannelLogout',
  'routes.frontchannelLogout': 'routes.frontChannelLogout',
  'routes.postLogoutRedirect': 'appBaseUrl',
  baseURL: 'appBaseUrl',
  baseUrl: 'appBaseUrl',
  issuer: 'domain',
  issuerBaseURL: 'domain',
  authorizationParams: 'authorizationParameters',
  cookies: 'session.cookie',
  cookie: 'session.cookie',
  mfaContextTtl: 'mfaTokenTtl',
  fetch: '[customFetch]',
  customFetch: '[customFetch]',
  clock: '[customClock]',
  customClock: '[customClock]',
}

const toLastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

/** Returns the most similar known name. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  const key = misspelt.toLowerCase()
  const tolerance = key.length > 5 ? 2 : 1
  const near = names
    .map((name) => ({ name, distance: editDistance(key, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance)
  return near[0]?.name
}

/** Returns the sentence that corrects an unknown name in a message. */
export function toCorrection(unknown: string, names: readonly string[]): string {
  const meant = nearestName(unknown, names)
  return meant === undefined ? `It takes ${names.join(', ')}.` : `Did you mean ${meant}?`
}

/**
 * Returns what is wrong with options that have a name which is not among these; `undefined` if all are known. An option that is
 * undefined counts as left out.
 */
export function unknownOption(options: object, names: readonly string[]): string | undefined {
  const found = Object.entries(options).find(([name, value]) => value !== undefined && !names.includes(name))
  return found && `an unknown option. ${toCorrection(found[0], names)}`
}

/**
 * Returns the probably intended option: a known alias, the most similar name, or the same name at its correct path.
 */
function suggestion(path: string, prefix: string): string | undefined {
  if (Object.hasOwn(aliases, path)) return aliases[path]
  const key = toLastPart(path)
  const siblings = optionPaths.filter((option) => option === prefix + toLastPart(option)).map(toLastPart)
  const near = nearestName(key, siblings)
  if (near) return prefix + near
  return optionPaths.find((option) => toLastPart(option).toLowerCase() === key.toLowerCase())
}

/** Names in options are written by the developer, but may be built from anything: only plain ones are repeated. */
export const printable: RegExp = /^[\w$-]{1,60}$/

function hintTo(meant: string): string {
  const symbol = /^\[(\w+)\]$/.exec(meant)?.[1]
  return ` Did you mean ${meant}?${symbol ? ` Its key is the symbol ${symbol}, which this package exports.` : ''}`
}

/**
 * Reports every unknown option, since a misspelt one would silently have no effect, and every group that is not an
 * object, whose properties then count as left out.
 */
export function checkKeys(given: object, source: Source, prefix = ''): void {
  for (const [key, value] of Object.entries(given)) {
    const path = prefix + key
    // A key with a dot is no path: only nested objects are read.
    if (key.includes('.') || !optionPaths.includes(path)) {
      const name = printable.test(key) ? path : `A key in ${prefix || 'the options'}`
      const meant = suggestion(path, prefix)
      source.addIssue(
        'notice',
        `${name} is not a known option and has no effect.${meant ? hintTo(meant) : ''}`,
      )
    } else if (rows[path]?.kind === 'group') {
      checkKeys(readGroup(path, value, source), source, `${path}.`)
    }
  }
}
