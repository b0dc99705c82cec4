import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ModuleOptions, Nuxt } from './module.ts'
import nuxtModule from './module.ts'

interface Installed {
  readonly nuxt: Nuxt
  /** Runs the hooks of a name, and returns what they changed. */
  readonly call: <T>(name: string, value: T) => T
}

/** An application of Nuxt with these files, as far as the module sees it. */
function application(files: readonly string[] = [], configured?: unknown): Installed {
  const rootDir = mkdtempSync(join(tmpdir(), 'nuxt-module-'))
  onTestFinished(() => rmSync(rootDir, { recursive: true }))
  mkdirSync(join(rootDir, 'server/utils'), { recursive: true })
  for (const file of files) writeFileSync(join(rootDir, file), '')
  const hooks: { readonly name: string; readonly run: (value: never) => void }[] = []
  const options = {
    alias: { '~~': rootDir },
    buildDir: join(rootDir, '.nuxt'),
    rootDir,
    serverDir: join(rootDir, 'server'),
    app: { baseURL: '/' },
    plugins: ['of the application'],
    nitro: { plugins: ['of the application'] },
    runtimeConfig: { public: {} },
    vite: {},
    idp: configured,
  }
  const nuxt: Nuxt = {
    options,
    hook: (name: string, run: (value: never) => void) => hooks.push({ name, run }),
  }
  const call = <T>(name: string, value: T): T => {
    for (const hook of hooks) if (hook.name === name) hook.run(value as never)
    return value
  }
  return { nuxt, call }
}

function install(options: ModuleOptions, files?: readonly string[], configured?: unknown): Installed {
  const installed = application(files, configured)
  nuxtModule(options, installed.nuxt)
  return installed
}

/** The generated plugin of Nitro. */
function nitroPlugin({ options: { nitro } }: Nuxt): string {
  const name = nitro.plugins?.at(-1) ?? ''
  return (nitro.virtual as { readonly [name: string]: string })[name] ?? ''
}

test('is configured by idp in nuxt.config', async () => {
  expect(await nuxtModule.getMeta()).toEqual({ name: 'idp-client', configKey: 'idp' })
  const { nuxt } = install({}, [], { routes: { login: '/sign-in' } })
  expect(nuxt.options.runtimeConfig.public).toEqual({ idp: { routes: { login: '/sign-in' } } })
})

test('keeps what the application has in its runtime configuration', () => {
  const { nuxt } = application()
  Object.assign(nuxt.options.runtimeConfig.public, { api: '/api', idp: { label: 'Acme' } })
  nuxtModule({ routes: { login: '/sign-in' } }, nuxt)
  expect(nuxt.options.runtimeConfig.public).toEqual({
    api: '/api',
    idp: { label: 'Acme', routes: { login: '/sign-in' } },
  })
})

test('adds the composable, the route middleware and both plugins', () => {
  const { call, nuxt } = install({})
  expect(call('imports:extend', [])).toEqual([
    { name: 'useUserSession', from: expect.stringMatching(/\/nuxt-app\.js$/) },
  ])
  expect(call('app:resolve', { middleware: [{ name: 'own' }] }).middleware).toEqual([
    { name: 'own' },
    { name: 'idp-login', path: expect.stringMatching(/\/nuxt-login\.js$/) },
  ])
  expect(nuxt.options.plugins).toEqual([
    { src: expect.stringMatching(/\/nuxt-plugin\.js$/) },
    'of the application',
  ])
  expect(nuxt.options.nitro.plugins?.[0]).toBe('of the application')
  expect(nuxt.options.vite.optimizeDeps?.exclude).toEqual(['idp-client'])
})

test('mounts a client that variables configure, which server code imports automatically', () => {
  const { call, nuxt } = install({})
  expect(nitroPlugin(nuxt)).toMatch(/^import \{ idp \} from ".*\/nuxt-client\.js"$/m)
  expect(call('nitro:config', { imports: { imports: ['own'] } })).toEqual({
    imports: { imports: ['own', { name: 'idp', from: expect.stringMatching(/\/nuxt-client\.js$/) }] },
  })
  expect(call('nitro:config', { imports: false })).toEqual({ imports: false })
})

test.each([
  ['/', undefined, '/auth/login', '/auth/logout'],
  ['/shop/', { login: '/sign-in' }, '/shop/sign-in', '/shop/auth/logout'],
])('keeps a build from storing the login as a page, below %s', (baseURL, routes, login, logout) => {
  const { nuxt } = application()
  Object.assign(nuxt.options.app, { baseURL })
  nuxt.options.nitro.prerender = { crawlLinks: true, ignore: ['/drafts'] }
  nuxtModule({ routes }, nuxt)
  const { prerender } = nuxt.options.nitro
  expect(prerender).toMatchObject({ crawlLinks: true, ignore: ['/drafts', expect.any(Function)] })
  const isIgnored = prerender?.ignore?.[1] as (path: string) => boolean
  const paths = [login, `${login}?returnTo=/`, logout, `${login}-help`, '/']
  expect(paths.map(isIgnored)).toEqual([true, true, true, false, false])
})

test.each(['server/utils/idp.ts', 'server/utils/idp.mjs'])('mounts the client of %s', (file) => {
  const { call, nuxt } = install({}, [file])
  expect(nitroPlugin(nuxt)).toContain(`import { idp } from "${nuxt.options.rootDir}/${file}"`)
  // Nuxt itself imports what is in this folder.
  expect(call('nitro:config', {})).toEqual({})
})

test.each(['~~/server/login', '~~/server/login.ts', 'server/login', './server/login.ts'])(
  'mounts the client of a file that the option names: %s',
  (client) => {
    const { nuxt } = install({ client }, ['server/login.ts', 'server/utils/idp.ts'])
    expect(nitroPlugin(nuxt)).toMatch(/^import \{ idp \} from ".*\/server\/login\.ts"$/m)
  },
)

test.each([
  [
    { clientId: 'a' },
    'idp.clientId in nuxt.config is not a known option; the options are idp.client, idp.routes.',
  ],
  [{ client: true }, "Write client: '~~/server/utils/idp'."],
  [
    { client: '~~/server/other' },
    'names ~~/server/other, which does not exist. Write in that file: export const idp',
  ],
  [{ routes: { callback: '/a' } }, 'idp.routes.callback in nuxt.config is not a known option'],
  [{ routes: { login: 'sign-in' } }, 'idp.routes.login in nuxt.config must be a path like /auth/name.'],
  [{ routes: { login: 1 } }, 'idp.routes.login in nuxt.config must be a path'],
])('rejects wrong options: %j', (options, message) => {
  expect(() => install(options as ModuleOptions)).toThrow(message)
  expect(() => install({}, [], options)).toThrow(message)
})
