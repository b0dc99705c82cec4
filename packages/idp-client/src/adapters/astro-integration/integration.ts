import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { fileURLToPath } from 'node:url'
import { InvalidConfigurationError } from '../../errors/configuration.ts'
import type { OriginCheckOptions } from '../web/origin-check.ts'

/** Options of the integration. */
export interface IntegrationOptions extends OriginCheckOptions {
  /**
   * File that exports the client as `idp`, relative to the root of the project. Default: `src/lib/idp.ts` if it exists,
   * otherwise a client that variables configure.
   */
  readonly client?: string
}

/** The used part of what the hook `astro:config:setup` gets. */
export interface SetupContext {
  readonly command: 'dev' | 'build' | 'preview' | 'sync'
  readonly config: {
    readonly base: string
    readonly root: URL
    readonly srcDir: URL
    readonly security?: { readonly checkOrigin?: boolean | undefined } | undefined
  }
  addMiddleware(middleware: { order: 'pre'; entrypoint: string }): void
  injectRoute(route: { pattern: string; entrypoint: URL; prerender: false }): void
  updateConfig(config: {
    security: { checkOrigin: false }
    vite: { define: Readonly<Record<string, string>>; plugins: VirtualPlugin[] }
  }): unknown
}

/** The used part of what the hook `astro:config:done` gets. */
export interface DoneContext {
  injectTypes(types: { filename: string; content: string }): unknown
}

/** An integration of Astro. */
export interface Integration {
  readonly name: 'idp-client'
  readonly hooks: {
    'astro:config:setup'(context: SetupContext): void
    'astro:config:done'(context: DoneContext): void
  }
}

/** A plugin of Vite for modules without a file. */
export interface VirtualPlugin {
  readonly name: string
  resolveId(id: string): string | undefined
  load(id: string): string | undefined
}

const CLIENT = 'virtual:idp-client'
const MIDDLEWARE = 'virtual:idp-client/middleware'

const DEFAULT_CLIENT = `import { IdpClient } from 'idp-client/astro'
export const idp = new IdpClient({ allowInsecureRequests: import.meta.env.DEV })
`

const TYPES = `declare module '${CLIENT}' {
  export const idp: import('idp-client/astro').IdpClient
}
declare namespace App {
  interface Locals {
    readonly idpSession: import('idp-client/astro').SessionData | null
  }
}
`

const toPath = (url: URL): string => fileURLToPath(url).replaceAll('\\', '/')

/** Returns an existing file, whose path may lack its extension. */
const findFile = (path: string): string | undefined =>
  ['', '.ts', '.mts', '.js', '.mjs'].map((extension) => path + extension).find((file) => existsSync(file))

/** Returns the file with the application's client, `undefined` if it has none. Throws if it names one that does not exist. */
function findClient(
  client: string | undefined,
  { root, srcDir }: SetupContext['config'],
): string | undefined {
  if (client === undefined) return findFile(`${toPath(srcDir)}lib/idp`)
  const file = findFile(toPath(new URL(client, root)))
  if (file) return file
  const detail = `The option client of the integration names a file that does not exist. Write in it: export const idp = new IdpClient(), with import { IdpClient } from 'idp-client/astro'.`
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/**
 * Returns what the bundler puts in place of the variables of the base path, in code of the server and in that of pages, which
 * reads the second name first.
 */
function defineBasePath(base: string): Readonly<Record<string, string>> {
  if (base === '/') return {}
  const value = JSON.stringify(base)
  return {
    'process.env.FRAMEWORK_PUBLIC_BASE_PATH': value,
    'process.env.NEXT_PUBLIC_BASE_PATH': value,
  }
}

/** Serves modules from their sources. */
function virtualModules(sources: ReadonlyMap<string, string>): VirtualPlugin {
  return {
    name: 'idp-client',
    // Vite leaves ids with a null byte to the plugin that has resolved them.
    resolveId: (id) => (sources.has(id) ? `\0${id}` : undefined),
    load: (id) => (id.startsWith('\0') ? sources.get(id.slice(1)) : undefined),
  }
}

/** Returns the source of the middleware, with the check of origins that replaces that of Astro. */
function toMiddleware(options: OriginCheckOptions | undefined): string {
  const mount = `import { idp } from '${CLIENT}'\n`
  if (!options) return `${mount}export const onRequest = idp.onRequest\n`
  return `${mount}import { sequence } from 'astro:middleware'
import { checkOrigin } from 'idp-client/astro'
export const onRequest = sequence(idp.onRequest, checkOrigin(${JSON.stringify(options)}))
`
}

/**
 * The integration for Astro 5 and later: mounts the client and the auth routes in front of the middleware of the application,
 * types `Astro.locals.idpSession`, and exports the client as `idp` from `virtual:idp-client`. Astro's check of form posts would
 * reject back-channel logout and `response_mode=form_post`: it is replaced by `checkOrigin` behind the auth routes, unless the
 * application has switched it off. The base path is that of the configuration. `astro dev` gets the variables of `.env`.
 *
 * @example
 * // astro.config.mjs
 * export default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }), integrations: [idp()] })
 */
export default function idp({ client, trustedOrigins = [] }: IntegrationOptions = {}): Integration {
  return {
    name: 'idp-client',
    hooks: {
      'astro:config:setup': ({ addMiddleware, command, config, injectRoute, updateConfig }) => {
        const variables = toPath(new URL('.env', config.root))
        if (command === 'dev' && existsSync(variables)) loadEnvFile(variables)
        const file = findClient(client, config)
        const source = file ? `export { idp } from ${JSON.stringify(file)}\n` : DEFAULT_CLIENT
        const checked = config.security?.checkOrigin === false ? undefined : { trustedOrigins }
        const sources = new Map([
          [CLIENT, source],
          [MIDDLEWARE, toMiddleware(checked)],
        ])
        updateConfig({
          security: { checkOrigin: false },
          vite: { define: defineBasePath(config.base), plugins: [virtualModules(sources)] },
        })
        addMiddleware({ order: 'pre', entrypoint: MIDDLEWARE })
        injectRoute({
          pattern: '/auth/[...route]',
          entrypoint: new URL('./astro.js', import.meta.url),
          prerender: false,
        })
      },
      'astro:config:done': ({ injectTypes }) => {
        injectTypes({ filename: 'idp-client.d.ts', content: TYPES })
      },
    },
  }
}
