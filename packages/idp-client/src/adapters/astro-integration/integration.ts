import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { RoutesOptions } from '../../config/options.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import { assertOptions, findFile, toSlashes } from '../build-time/options.ts'
import type { OriginCheckOptions } from '../web/origin-check.ts'

const routeNames = Object.keys({
  login: true,
  logout: true,
  callback: true,
  profile: true,
  accessToken: true,
  connectAccount: true,
  backChannelLogout: true,
  frontChannelLogout: true,
  jwks: true,
  mfaAuthenticators: true,
  mfaChallenge: true,
  mfaAssociate: true,
  mfaVerify: true,
} satisfies Record<keyof RoutesOptions, true>)

/** Options of the integration. */
export interface IntegrationOptions extends OriginCheckOptions {
  /**
   * File that exports the client as `idp`, relative to the root of the project. Default: `src/lib/idp.ts` if it exists,
   * otherwise a client that variables configure.
   */
  readonly client?: string
  /**
   * Paths of auth routes that differ from the defaults, without base path. A client of your own needs them in its option
   * `routes` as well.
   */
  readonly routes?: RoutesOptions
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
    vite: {
      define: Readonly<Record<string, string>>
      plugins: VirtualPlugin[]
      ssr: { noExternal: string[] }
    }
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

/** Returns the source of a client that variables and these paths configure. */
const toDefaultClient = (routes: RoutesOptions): string => `import { IdpClient } from 'idp-client/astro'
export const idp = new IdpClient({ allowInsecureRequests: import.meta.env.DEV, routes: ${JSON.stringify(routes)} })
`

const TYPES = `declare module '${CLIENT}' {
  export const idp: import('idp-client/astro').IdpClient
}
declare namespace App {
  interface Locals {
    readonly idpSession: import('idp-client/astro').SessionData | null
    readonly idpAuth?: import('idp-client/astro').Auth
  }
}
`

const toPath = (url: URL): string => toSlashes(fileURLToPath(url))

/** Returns the file with the application's client, `undefined` if it has none. Throws if it names one that does not exist. */
function findClient(
  client: string | undefined,
  { root, srcDir }: SetupContext['config'],
): string | undefined {
  if (client === undefined) return findFile(`${toPath(srcDir)}lib/idp`)
  const file = findFile(toPath(new URL(client, root)))
  if (file) return file
  throw invalidAtStart(`client in astro.config names ${client}, which does not exist. \
Write in that file: export const idp = new IdpClient(), with import { IdpClient } from 'idp-client/astro'.`)
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
export const onRequest = sequence(idp.onRequest, idp.checkOrigin(${JSON.stringify(options)}))
`
}

const isOrigin = (value: unknown): boolean =>
  typeof value === 'string' && /^[a-z][a-z\d+.-]*:\/\/[^/]+$/i.test(value)

/** Throws `INVALID_CONFIGURATION` for wrong options. */
function assertIntegrationOptions(options: IntegrationOptions): void {
  assertOptions(options, {
    place: 'astro.config',
    prefix: '',
    names: ['client', 'routes', 'trustedOrigins'],
    routeNames,
    client: './src/lib/idp',
  })
  const { trustedOrigins = [] } = options
  if (Array.isArray(trustedOrigins) && trustedOrigins.every(isOrigin)) return
  throw invalidAtStart(
    "trustedOrigins in astro.config must be an array of origins like 'https://pay.example.com'.",
  )
}

/** Returns the patterns of the pages that Astro needs for the auth routes. */
function toPatterns(routes: RoutesOptions): readonly string[] {
  const paths = Object.values(routes).filter((path) => path !== undefined && !path.startsWith('/auth/'))
  return ['/auth/[...route]', ...new Set(paths)]
}

/**
 * The integration for Astro 5 and later: mounts the client and the auth routes in front of the middleware of the application,
 * types `Astro.locals.idpSession`, and exports the client as `idp` from `virtual:idp-client`. Astro's check of form posts would
 * reject back-channel logout and `response_mode=form_post`: it is replaced by `checkOrigin` of the client behind the auth routes, unless the
 * application has switched it off. The base path is that of the configuration. `astro dev` gets the variables of `.env`.
 *
 * @example
 * // astro.config.mjs
 * export default defineConfig({ output: 'server', adapter: node({ mode: 'standalone' }), integrations: [idp()] })
 */
export default function idp(options: IntegrationOptions = {}): Integration {
  assertIntegrationOptions(options)
  const { client, routes = {}, trustedOrigins = [] } = options
  return {
    name: 'idp-client',
    hooks: {
      'astro:config:setup': ({ addMiddleware, command, config, injectRoute, updateConfig }) => {
        const variables = toPath(new URL('.env', config.root))
        if (command === 'dev' && existsSync(variables)) loadEnvFile(variables)
        const file = findClient(client, config)
        const source = file ? `export { idp } from ${JSON.stringify(file)}\n` : toDefaultClient(routes)
        const checked = config.security?.checkOrigin === false ? undefined : { trustedOrigins }
        const sources = new Map([
          [CLIENT, source],
          [MIDDLEWARE, toMiddleware(checked)],
        ])
        updateConfig({
          security: { checkOrigin: false },
          vite: {
            define: defineBasePath(config.base),
            plugins: [virtualModules(sources)],
            // Astro bundles it only where the package.json of the application names it. Its dependencies are in the same bundle:
            // an import from there finds the versions that other packages have, such as those of Astro itself.
            ssr: { noExternal: ['idp-client', 'cookie-es', 'jose', 'oauth4webapi'] },
          },
        })
        addMiddleware({ order: 'pre', entrypoint: MIDDLEWARE })
        const entrypoint = new URL('./astro.js', import.meta.url)
        for (const pattern of toPatterns(routes)) injectRoute({ pattern, entrypoint, prerender: false })
      },
      'astro:config:done': ({ injectTypes }) => {
        injectTypes({ filename: 'idp-client.d.ts', content: TYPES })
      },
    },
  }
}
