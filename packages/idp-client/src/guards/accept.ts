import type { ResourceConfig } from '../config/resource.ts'
import type { Application } from '../engine.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import type { Requirements } from './requirements.ts'
import { Resource } from './resource.ts'

/** The validated `accept` of a guard, with at least one resource. */
export interface Accepted {
  readonly session: boolean
  readonly resources: readonly ResourceConfig[]
  /** Origins whose pages may call one of the resources, beside that of the application; undefined: all. */
  readonly origins: readonly string[] | undefined
}

function refuse(guard: string, what: string): never {
  throw invalidConfiguration(`${guard}: ${what}`)
}

/**
 * Validates `accept` in the options of a guard. Throws `InvalidConfigurationError` for anything but resources of this client and
 * `'session'`, for `'session'` if there are none, and if `scope` requires one that no resource has.
 */
export function readAccept(
  application: Application,
  guard: string,
  options: object,
  { scope = [] }: Requirements,
): Accepted {
  const { accept, sameOrigin }: { readonly accept?: unknown; readonly sameOrigin?: unknown } = options
  if (sameOrigin !== undefined)
    refuse(guard, 'sameOrigin is an option of guards without accept; with accept it always holds.')
  const given: unknown[] = Array.isArray(accept) ? Array.from(accept) : []
  const accepted = given.filter((entry) => entry instanceof Resource)
  const isKnown = given.every((entry) => entry instanceof Resource || entry === 'session')
  if (accepted.length === 0 || !isKnown)
    return refuse(
      guard,
      "accept must be a list of resources (idp.resource()), and 'session' for sessions, too.",
    )
  if (!application.settings.sessions && given.includes('session'))
    refuse(guard, "accept has 'session', but the option sessions: false says that there are none.")
  for (const resource of accepted) {
    if (resource.application !== application)
      refuse(guard, 'accept has a resource of another client: create it with idp.resource() of this one.')
    const { scopes = scope } = resource.config
    if (!scope.every((name) => scopes.includes(name)))
      refuse(guard, 'scope requires one that is not among the scopes of the resource.')
  }
  const resources = accepted.map(({ config }) => config)
  const isLimited = resources.every(({ origins }) => origins !== undefined)
  return Object.freeze({
    session: given.includes('session'),
    resources: Object.freeze(resources),
    origins: isLimited ? Object.freeze(resources.flatMap(({ origins = [] }) => origins)) : undefined,
  })
}
