import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IntegrationOptions, SetupContext, VirtualPlugin } from './integration.ts'
import idp from './integration.ts'

/** Runs the set-up of a project, and returns what the integration has added to it. */
function setUp(
  options?: IntegrationOptions,
  { command = 'build', files = {}, base = '/', checkOrigin }: ProjectOptions = {},
): {
  sources: (id: string) => string | undefined
  bundled: readonly string[]
  defined: object
  mounted: unknown[]
  root: string
} {
  const root = mkdtempSync(join(tmpdir(), 'idp-astro-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const mounted: unknown[] = []
  const plugins: VirtualPlugin[] = []
  const defined = {}
  const bundled: string[] = []
  const context: SetupContext = {
    command,
    config: {
      base,
      root: pathToFileURL(`${root}/`),
      srcDir: pathToFileURL(`${root}/src/`),
      security: checkOrigin === undefined ? undefined : { checkOrigin },
    },
    addMiddleware: (middleware) => mounted.push(middleware),
    injectRoute: ({ entrypoint, ...route }) =>
      mounted.push({ ...route, entrypoint: entrypoint.pathname.split('/').at(-1) }),
    updateConfig: ({ security, vite }) => {
      mounted.push(security)
      plugins.push(...vite.plugins)
      Object.assign(defined, vite.define)
      bundled.push(...vite.ssr.noExternal)
    },
  }
  idp(options).hooks['astro:config:setup'](context)
  const [plugin] = plugins
  return {
    sources: (id) => {
      const resolved = plugin?.resolveId(id)
      return resolved && plugin?.load(resolved)
    },
    bundled,
    defined,
    mounted,
    root,
  }
}

interface ProjectOptions {
  readonly command?: SetupContext['command']
  readonly files?: Readonly<Record<string, string>>
  readonly base?: string
  readonly checkOrigin?: boolean
}

const CLIENT = 'virtual:idp-client'
const MIDDLEWARE = 'virtual:idp-client/middleware'

describe('the integration of Astro', () => {
  test('mounts the middleware first and the auth routes, and replaces the check of origins', () => {
    const { mounted, sources } = setUp({ trustedOrigins: ['https://pay.example'] })
    expect(mounted).toEqual([
      { checkOrigin: false },
      { order: 'pre', entrypoint: MIDDLEWARE },
      { pattern: '/auth/[...route]', entrypoint: 'astro.js', prerender: false },
    ])
    expect(sources(MIDDLEWARE)).toContain(
      'sequence(idp.onRequest, idp.checkOrigin({"trustedOrigins":["https://pay.example"]}))',
    )
    expect(sources('another')).toBeUndefined()
  })

  test('adds pages for other paths of auth routes, and gives them to the client', () => {
    const routes = { login: '/sign-in', callback: '/auth/back', logout: '/sign-out' }
    const { mounted, sources } = setUp({ routes })
    expect(mounted.slice(2)).toEqual(
      ['/auth/[...route]', '/sign-in', '/sign-out'].map((pattern) => ({
        pattern,
        entrypoint: 'astro.js',
        prerender: false,
      })),
    )
    expect(sources(CLIENT)).toContain(`routes: ${JSON.stringify(routes)}`)
  })

  test.each([
    [
      { clientId: 'a' },
      'clientId in astro.config is not a known option; the options are client, routes, trust',
    ],
    [{ client: true }, "Write client: './src/lib/idp'."],
    [{ routes: { signin: '/a' } }, 'routes.signin in astro.config is not a known option'],
    [{ routes: { login: 'sign-in' } }, 'routes.login in astro.config must be a path like /auth/name.'],
    // A string includes each of its parts, so that it would allow further origins.
    [{ trustedOrigins: 'https://pay.example' }, 'trustedOrigins in astro.config must be an array of origins'],
    [
      { trustedOrigins: ['https://pay.example/'] },
      'trustedOrigins in astro.config must be an array of origins',
    ],
    [{ trustedOrigins: ['pay.example'] }, 'trustedOrigins in astro.config must be an array of origins'],
  ])('rejects wrong options: %j', (options, message) => {
    expect(() => idp(options as IntegrationOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION', message: expect.stringContaining(message) }),
    )
  })

  test('checks no origins if the application has switched that off', () => {
    expect(setUp({}, { checkOrigin: true }).sources(MIDDLEWARE)).toContain('checkOrigin(')
    expect(setUp({}, { checkOrigin: false }).sources(MIDDLEWARE)).not.toContain('checkOrigin')
  })

  test('creates a client that permits http in development only, unless the application has one', () => {
    expect(setUp().sources(CLIENT)).toContain('allowInsecureRequests: import.meta.env.DEV')
    const { root, sources } = setUp({}, { files: { 'src/lib/idp.ts': '' } })
    expect(sources(CLIENT)).toBe(`export { idp } from "${root}/src/lib/idp.ts"\n`)
    const other = setUp({ client: './auth/client' }, { files: { 'auth/client.mjs': '' } })
    expect(other.sources(CLIENT)).toBe(`export { idp } from "${other.root}/auth/client.mjs"\n`)
  })

  test('stops the build if the option names a file that does not exist', () => {
    expect(() => setUp({ client: './src/auth' })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIGURATION',
        message: expect.stringContaining('export const idp = new IdpClient()'),
      }),
    )
  })

  test('gives the base path to code of the server and of pages', () => {
    expect(setUp({}, { base: '/shop' }).defined).toEqual({
      'process.env.FRAMEWORK_PUBLIC_BASE_PATH': '"/shop"',
      'process.env.NEXT_PUBLIC_BASE_PATH': '"/shop"',
    })
    expect(setUp().defined).toEqual({})
  })

  test('puts the package into the bundle, where the base path is defined', () => {
    // Vite leaves out what the root of the application has by the same name, also in another version.
    const { dependencies } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    )
    expect(setUp().bundled).toEqual(['idp-client', ...Object.keys(dependencies)])
  })

  test('gives the development server the variables of .env, and a build none', () => {
    const files = { '.env': 'IDP_ASTRO_TEST=from the file\n' }
    setUp({}, { files })
    expect(process.env['IDP_ASTRO_TEST']).toBeUndefined()
    try {
      setUp({}, { command: 'dev', files })
      expect(process.env['IDP_ASTRO_TEST']).toBe('from the file')
    } finally {
      delete process.env['IDP_ASTRO_TEST']
    }
  })

  test('types the client and the session', () => {
    const types: string[] = []
    idp().hooks['astro:config:done']({ injectTypes: ({ content }) => types.push(content) })
    expect(types.join()).toMatch(/declare module 'virtual:idp-client'.*readonly idpSession/s)
  })
})
