import { existsSync } from 'node:fs'
import { invalidAtStart } from '../../errors/configuration.ts'

/** Options that a framework's configuration has for a client, before they are checked. */
interface Given {
  readonly client?: unknown
  readonly routes?: object | undefined
}

/** Where the options are written, and which ones there are. */
interface Known {
  /** The configuration file, for errors. */
  readonly place: string
  /** In front of the name of an option, in that file. */
  readonly prefix: string
  readonly names: readonly string[]
  readonly routeNames: readonly string[]
  /** An example of the option `client`. */
  readonly client: string
}

export const toSlashes = (path: string): string => path.replaceAll('\\', '/')

/** Returns an existing file, whose path may lack its extension. */
export function findFile(path: string): string | undefined {
  return ['', '.ts', '.mts', '.js', '.mjs']
    .map((extension) => path + extension)
    .find((file) => existsSync(file))
}

function assertKnown(options: object, known: readonly string[], prefix: string, place: string): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const names = known.map((name) => prefix + name).join(', ')
  throw invalidAtStart(`${prefix}${unknown} in ${place} is not a known option; the options are ${names}.`)
}

/** Throws `INVALID_CONFIGURATION` for an unknown option, and for a `client` or a route that is not a path. */
export function assertOptions(
  options: Given,
  { client: example, names, place, prefix, routeNames }: Known,
): void {
  assertKnown(options, names, prefix, place)
  const { client, routes = {} } = options
  if (client !== undefined && typeof client !== 'string')
    throw invalidAtStart(`${prefix}client in ${place} must be a path. Write client: '${example}'.`)
  assertKnown(routes, routeNames, `${prefix}routes.`, place)
  for (const [name, path] of Object.entries(routes)) {
    if (path === undefined || (typeof path === 'string' && path.startsWith('/'))) continue
    throw invalidAtStart(`${prefix}routes.${name} in ${place} must be a path like /auth/name.`)
  }
}
