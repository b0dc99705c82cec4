import { isObject } from '../lib/objects.ts'
import type { FrontChannelLogoutConfig } from './config.ts'
import { parseHttpUrl } from './http-url.ts'
import type { FrontChannelLogoutOptions } from './options.ts'
import type { Source } from './readers.ts'
import { getField, invalid, isPresent, toField } from './readers.ts'

const OPTION = 'frontChannelLogout'

const PROPERTIES: readonly string[] = [
  'issuer',
  'frameAncestors',
] satisfies (keyof FrontChannelLogoutOptions)[]

/** Returns whether the option mounts the route. */
export function isFrontChannelLogoutOn(source: Source): boolean {
  const { given } = getField(OPTION, source)
  return isPresent(given) && given !== false
}

function toOrigin(value: unknown): string | null {
  const url = typeof value === 'string' ? parseHttpUrl(value) : null
  return url && url.pathname === '/' ? url.origin : null
}

/** Only the origin counts in a policy: a path would seem to restrict it. */
function readOrigins(given: unknown, source: Source): readonly string[] {
  const values = isPresent(given) ? [given].flat() : []
  const origins = values.map(toOrigin)
  const valid = origins.filter((origin) => origin !== null)
  if (valid.length === origins.length) return valid
  const field = toField(`${OPTION}.frameAncestors`, given, source)
  return invalid(field, 'must be an origin such as https://login.example.com, or an array of origins') ?? []
}

function readIssuer(given: unknown, source: Source): boolean {
  if (!isPresent(given) || given === 'required') return false
  if (given !== 'optional')
    invalid(toField(`${OPTION}.issuer`, given, source), "must be 'required' or 'optional'")
  return given === 'optional'
}

/**
 * Reports what front-channel logout lacks: a request names a session by its `sid`, which only a store can find. Absent if it is
 * off.
 */
export function resolveFrontChannelLogout(source: Source): FrontChannelLogoutConfig | undefined {
  const field = getField(OPTION, source)
  const { given } = field
  if (!isFrontChannelLogoutOn(source)) return undefined
  if (given !== true && !isObject(given)) return invalid(field, 'must be true, false or an object')
  const properties: Readonly<Record<string, unknown>> = given === true ? {} : { ...given }
  if (Object.keys(properties).some((name) => !PROPERTIES.includes(name)))
    invalid(field, `has an unknown property; there are ${PROPERTIES.join(' and ')}`)
  if (typeof source.options.sessionStore?.deleteByLogoutToken !== 'function') {
    invalid(
      field,
      'requires sessionStore with the function deleteByLogoutToken: a session in a cookie cannot be ended by its sid',
    )
  }
  return {
    isIssuerOptional: readIssuer(properties['issuer'], source),
    frameAncestors: readOrigins(properties['frameAncestors'], source),
  }
}
