import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageRouteKey } from '../../config/config.ts'
import type { RoutesOptions } from '../../config/options.ts'
import { invalidAtStart } from '../../errors/configuration.ts'
import { assertOptions, findFile, toSlashes } from '../build-time/options.ts'

/** Paths of the routes that pages request, as in the option `routes` of the client. */
export type ModuleRoutes = Readonly<Pick<RoutesOptions, PageRouteKey>>

const routeNames = Object.keys({
  login: true,
  logout: true,
  profile: true,
  accessToken: true,
  mfaAuthenticators: true,
  mfaChallenge: true,
  mfaAssociate: true,
  mfaVerify: true,
} satisfies Record<PageRouteKey, true>)

/** Options of the module: `idp` in `nuxt.config.ts`. */
export interface ModuleOptions {
  /**
   * File that exports the client as `idp`. Default: `server/utils/idp.ts` if it exists, otherwise a client that variables
   * configure.
   */
  readonly client?: string | undefined
  /** Paths that differ from the defaults. A client of your own needs them in its option `routes` as well. */
  readonly routes?: ModuleRoutes | undefined
}

/** The used part of `Nuxt`. */
export interface Nuxt {
  readonly options: {
    readonly alias: { readonly [name: string]: string }
    readonly buildDir: string
    readonly rootDir: string
    readonly serverDir: string
    readonly plugins: unknown[]
    readonly app: { readonly baseURL: string }
    readonly nitro: {
      plugins?: (string | undefined)[] | undefined
      prerender?: { ignore?: unknown[] | undefined; [option: string]: unknown } | undefined
      virtual?: object | undefined
    }
    readonly runtimeConfig: { readonly public: object }
    readonly vite: { optimizeDeps?: { exclude?: string[] | undefined } | undefined }
  }
  hook(name: 'imports:extend', run: (imports: object[]) => void): unknown
  hook(name: 'app:resolve', run: (app: { readonly middleware: object[] }) => void): unknown
  hook(name: 'nitro:config', run: (config: { imports?: unknown }) => void): unknown
}

/** A Nuxt module whose options have this type. */
export interface NuxtModule<Options> {
  (options: Options, nuxt: Nuxt): void
  getMeta(): Promise<{ name: string; configKey: string }>
  /** From this Nuxt infers the type of the options. */
  getOptions?(options?: Partial<Options>): Promise<Options>
}

/** Returns the path of a file beside this one. */
const builtFile = (name: string): string => toSlashes(fileURLToPath(new URL(name, import.meta.url)))

/** Returns the options of the configuration, which those beside the name of the module override. */
function readOptions(inline: ModuleOptions, configured: unknown): ModuleOptions {
  const options: ModuleOptions = { ...(configured as ModuleOptions | undefined), ...inline }
  assertOptions(options, {
    place: 'nuxt.config',
    prefix: 'idp.',
    names: ['client', 'routes'],
    routeNames,
    client: '~~/server/utils/idp',
  })
  return options
}

/** Returns the file with the application's client, `undefined` if it has none. Throws if it names one that does not exist. */
function findClient(
  client: string | undefined,
  { alias, rootDir, serverDir }: Nuxt['options'],
): string | undefined {
  if (client === undefined) return findFile(`${serverDir}/utils/idp`)
  const [first = '', ...rest] = client.split('/')
  const file = findFile(resolve(rootDir, [alias[first] ?? first, ...rest].join('/')))
  if (file) return file
  throw invalidAtStart(`idp.client in nuxt.config names ${client}, which does not exist. \
Write in that file: export const idp = new IdpClient(), with import { IdpClient } from 'idp-client/nuxt'.`)
}

/** Keeps the build from following links to login and logout: it would store their responses, for all users. */
function ignoreLinks(
  { login = '/auth/login', logout = '/auth/logout' }: ModuleRoutes,
  { options }: Nuxt,
): void {
  const base = options.app.baseURL.replace(/\/$/, '')
  const paths = [base + login, base + logout]
  const isIgnored = (path: string): boolean => paths.includes(path.replace(/\?.*/s, ''))
  const { prerender } = options.nitro
  options.nitro.prerender = { ...prerender, ignore: [...(prerender?.ignore ?? []), isIgnored] }
}

function setup(inline: ModuleOptions, nuxt: Nuxt): void {
  const { options } = nuxt
  const { client, routes = {} } = readOptions(inline, (options as { readonly idp?: unknown }).idp)

  const own = findClient(client, options)
  const file = own ?? builtFile('./nuxt-client.js')
  // Nitro takes names of plugins for paths, also those of virtual files.
  const virtual = toSlashes(`${options.buildDir}/idp-client-plugin.mjs`)
  const source = `import { idp } from ${JSON.stringify(toSlashes(file))}
import { mount } from ${JSON.stringify(builtFile('./nuxt-mount.js'))}
export default (nitroApp) => mount(idp, nitroApp)`
  options.nitro.virtual = { ...options.nitro.virtual, [virtual]: source }
  options.nitro.plugins = [...(options.nitro.plugins ?? []), virtual]
  ignoreLinks(routes, nuxt)
  if (own === undefined) {
    nuxt.hook('nitro:config', (config) => {
      if (config.imports === false) return
      const { imports = [], ...others } = (config.imports ?? {}) as {
        readonly imports?: readonly object[]
      }
      config.imports = { ...others, imports: [...imports, { name: 'idp', from: file }] }
    })
  }

  const { public: visible } = options.runtimeConfig
  const { idp } = visible as { readonly idp?: object }
  Object.assign(visible, { idp: { ...idp, routes } })
  options.plugins.unshift({ src: builtFile('./nuxt-plugin.js') })
  nuxt.hook('imports:extend', (imports) => {
    imports.push({ name: 'useUserSession', from: builtFile('./nuxt-app.js') })
  })
  nuxt.hook('app:resolve', ({ middleware }) => {
    middleware.push({ name: 'idp-login', path: builtFile('./nuxt-login.js') })
  })
  // Prebundled entries would be copies, which do not know what the plugin has configured.
  const { optimizeDeps = {} } = options.vite
  options.vite.optimizeDeps = { ...optimizeDeps, exclude: [...(optimizeDeps.exclude ?? []), 'idp-client'] }
}

/**
 * The module for Nuxt 3 and 4: mounts the client, provides `useUserSession` and the route middleware `idp-login`.
 *
 * @example
 * // nuxt.config.ts
 * export default defineNuxtConfig({ modules: ['idp-client/nuxt/module'] })
 */
const nuxtModule: NuxtModule<ModuleOptions> = Object.assign(setup, {
  getMeta: async () => ({ name: 'idp-client', configKey: 'idp' }),
})

export default nuxtModule
