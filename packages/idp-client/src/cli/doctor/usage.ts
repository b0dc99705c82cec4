import { parseArgs } from 'node:util'
import { parseUrl } from '../../lib/url.ts'

/** Variables of the application, as a file sets them. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The parameters of the command. */
export interface DoctorParameters {
  /** The file with variables. */
  readonly env?: string | undefined
  /** The module that exports the client. */
  readonly config?: string | undefined
  /** Base URL of the running application, without trailing slash. */
  readonly app?: string | undefined
  /** Whether to write a record to the session store, and delete it. */
  readonly store: boolean
  /** Whether to send requests to the provider other than for its metadata and keys. */
  readonly probe: boolean
  readonly json: boolean
}

const options = {
  env: { type: 'string' },
  config: { type: 'string' },
  app: { type: 'string' },
  store: { type: 'boolean', default: false },
  'no-probe': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

function toBaseUrl(app: string): string | null {
  const url = parseUrl(app)
  const isPlain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.search + url.hash === ''
  return isPlain ? url.origin + url.pathname.replace(/\/+$/, '') : null
}

/**
 * Parses the parameters.
 *
 * @throws Error that names the wrong parameter, without its value
 */
export function parseParameters(args: readonly string[]): DoctorParameters {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
  const { app, config, env, json, store } = values
  if (positionals.length > 0) throw new Error('doctor takes options only.')
  const baseUrl = app === undefined ? undefined : toBaseUrl(app)
  if (baseUrl === null)
    throw new Error(
      '--app must be an http or https URL, such as http://localhost:3000, without user and query.',
    )
  if (store && config === undefined)
    throw new Error('--store needs --config, the module that exports the client.')
  return { env, config, app: baseUrl, store, probe: !values['no-probe'], json }
}
