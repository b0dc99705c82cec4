import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adapters } from './hosts.mjs'
import { PackedApp } from './lib/packed-app.mjs'

const app = new PackedApp('claims')

/** How the user is read by each entry that has one; `U` is the type of the user. */
const readers = {
  'idp-client': "import type { SessionData } from 'idp-client'\ntype U = SessionData['user']",
  'idp-client/next': "import type { SessionData } from 'idp-client/next'\ntype U = SessionData['user']",
  'idp-client/express':
    "import type { IdpClient } from 'idp-client/express'\ntype U = NonNullable<Awaited<ReturnType<IdpClient['getSession']>>>['user']",
  'idp-client/react':
    "import { useUser } from 'idp-client/react'\ntype U = NonNullable<ReturnType<typeof useUser>['user']>",
  'idp-client/browser':
    "import { fetchUser } from 'idp-client/browser'\ntype U = NonNullable<Awaited<ReturnType<typeof fetchUser>>>",
  'idp-client/testing': "import type { TestSession } from 'idp-client/testing'\ntype U = TestSession['user']",
  'idp-client/take-over':
    "import type { FormerSession } from 'idp-client/take-over'\ntype U = FormerSession['user']",
  'idp-client/stores/memory':
    "import { memoryStore } from 'idp-client/stores/memory'\ntype U = NonNullable<Awaited<ReturnType<ReturnType<typeof memoryStore>['get']>>>['user']",
  'idp-client/stores/redis':
    "import { redisStore } from 'idp-client/stores/redis'\ntype U = NonNullable<Awaited<ReturnType<ReturnType<typeof redisStore>['get']>>>['user']",
  'idp-client/stores/postgres':
    "import type { PostgresStore } from 'idp-client/stores/postgres'\ntype U = NonNullable<Awaited<ReturnType<PostgresStore['get']>>>['user']",
}

const augment = (entry) => `declare module '${entry}' { interface User { department?: string } }\n`

/** Without the augmentation the claim is `unknown`, which is not a string. */
const use = 'export const department = (user: U): string | undefined => user.department\n'

const toFileName = (entry) => `${entry.replaceAll('/', '-')}.ts`

beforeAll(() => app.install())
afterAll(() => app.remove())

describe('custom claims in an application with one entry', () => {
  test.each(Object.entries(readers))('[G3] %s', async (entry, read) => {
    const name = toFileName(entry)
    expect(await app.compile({ [name]: `${read}\n${augment(entry)}${use}` })).toBe('')
    const without = await app.compile({ [`without-${name}`]: `${read}\n${use}` })
    expect(without).toContain("Type 'unknown' is not assignable to type 'string | undefined'")
  })

  test('[G3] idp-client/errors, which has no user, compiles alone', async () => {
    const text = "import { AccessTokenError, isIdpError } from 'idp-client/errors'\n"
    const uses =
      'export const missing = (error: unknown): boolean =>\n' +
      "  isIdpError(error) && error instanceof AccessTokenError && error.code === 'MISSING_SESSION'\n"
    expect(await app.compile({ 'errors.ts': text + uses }, { skipLibCheck: false })).toBe('')
  })

  test('[G3] the augmentation in the hover text of User compiles, and types the claim', async () => {
    const [snippet, entry] = /declare module '(idp-client[\w/]*)' \{.*\}/.exec(
      declarations().get('User').text,
    )
    expect(await app.compile({ 'hover.ts': `${readers[entry]}\n${snippet}\n${use}` })).toBe('')
  })
})

describe('custom claims in a program with several entries', () => {
  test.each(Object.keys(readers))('[G3] an augmentation of %s reaches every entry', async (entry) => {
    const files = { 'claims.ts': `export type { User } from '${entry}'\n${augment(entry)}` }
    for (const [other, read] of Object.entries(readers)) files[`by-${toFileName(other)}`] = `${read}\n${use}`
    expect(await app.compile(files)).toBe('')
  })

  const others = [...Object.keys(adapters), 'react']

  test.each(others)('[G3] augmentations of idp-client and idp-client/%s add up', async (name) => {
    const entry = `idp-client/${name}`
    const team = "declare module 'idp-client' { interface User { team?: string } }\n"
    const both = 'export const claims = (user: U): (string | undefined)[] => [user.team, user.department]\n'
    const other = `export type { User } from '${entry}'\n${augment(entry)}`
    const files = { 'one.ts': `${readers['idp-client']}\n${team}${both}`, 'other.ts': other }
    expect(await app.compile(files)).toBe('')
  })
})

describe('packed declarations', () => {
  test('[G3] one file per entry and a few shared ones', () => {
    const manifest = JSON.parse(readFileSync(join(app.installed, 'package.json'), 'utf8'))
    const entries = Object.values(manifest.exports).flatMap(({ types }) => types ?? [])
    const files = declarationFiles()
    // The module for Nuxt imports the last two by their path.
    const others = ['dist/cli.d.ts', 'dist/nuxt-client.d.ts', 'dist/nuxt-plugin.d.ts']
    expect(files.filter((file) => !file.startsWith('dist/shared/')).sort()).toEqual(
      [...entries.map((path) => path.slice(2)), ...others].sort(),
    )
    expect(files.filter((file) => file.startsWith('dist/shared/')).length).toBeLessThan(14)
  })

  test('[G3] User and every error class are declared once', () => {
    expect(declarations().get('User').count).toBe(1)
    const errors = [...declarations()].filter(([name]) => /^\w*(?:Error|ContractViolation)$/.test(name))
    expect(errors.length).toBeGreaterThan(15)
    for (const [name, { count }] of errors) expect(count, name).toBe(1)
  })

  test('[G3] no type has a name that the bundler created', () => {
    expect([...declarations().keys()].filter((name) => /\$\d+$/.test(name))).toEqual([])
  })

  test('[G3] entries of servers need the types of Node.js, not those of the DOM', async () => {
    const entries = [
      'idp-client',
      'idp-client/express',
      'idp-client/node',
      'idp-client/stores/redis',
      'idp-client/take-over',
      'idp-client/testing',
    ]
    const text = entries.map((entry) => `import '${entry}'\n`).join('')
    const keys =
      "import { generateDpopKeyPair, IdpClient } from 'idp-client'\n" +
      'const dpopKeyPair = await generateDpopKeyPair()\n' +
      'const { publicKey: key } = dpopKeyPair\n' +
      'export const idp = new IdpClient({ dpopKeyPair, clientAssertionSigningKey: key, requestObject: { key } })\n' +
      '// @ts-expect-error: not a key\n' +
      'export const wrong = new IdpClient({ clientAssertionSigningKey: 1 })\n'
    const options = { lib: ['ES2023'], skipLibCheck: false }
    expect(await app.compile({ 'servers.mts': text + keys }, options)).toBe('')
  })

  test('a function is a fetch where the global one has more properties, as that of Bun', async () => {
    const text =
      "import { customFetch, IdpClient } from 'idp-client'\n" +
      'declare global { namespace fetch { function preconnect(url: string): void } }\n' +
      'const idp = new IdpClient({ [customFetch]: (input, init) => fetch(input, init) })\n' +
      "idp.proxy({ prefix: '/api', target: 'https://api.example.com', fetch: async (input, init) => fetch(input, init) })\n" +
      'export const orders = idp.createFetcher({ fetch: (input, init) => fetch(input, { ...init, redirect: "error" }) })\n' +
      'export const own = idp.createFetcher({ fetch })\n'
    for (const lib of [['ES2022'], ['ES2022', 'DOM', 'DOM.Iterable']])
      expect(await app.compile({ 'fetch.ts': text }, { lib })).toBe('')
  })

  test('tests may pass a fetcher that takes fewer inputs, and replace its function', async () => {
    const text =
      "import type { Fetcher } from 'idp-client'\n" +
      'export const fake: Fetcher = { fetchWithAuth: async (url: string) => new Response(url) }\n' +
      'fake.fetchWithAuth = async () => Response.json([])\n'
    expect(await app.compile({ 'fake.ts': text })).toBe('')
  })

  test('functions that change tokens of the development provider may return nothing, also without strict types', async () => {
    const text =
      "import type { DevProvider } from 'idp-dev-provider'\n" +
      'export const tamper = (provider: DevProvider) => provider.tamperIdToken((claims) => { claims.nonce = "other" })\n'
    for (const strict of [true, false]) expect(await app.compile({ 'tamper.ts': text }, { strict })).toBe('')
  })

  test('[G3] links in doc comments are URLs', () => {
    for (const file of declarationFiles()) {
      const text = readFileSync(join(app.installed, file), 'utf8')
      expect(text.match(/(?<!blob\/main\/)\bdocs\/[\w/-]+\.md/g) ?? [], file).toEqual([])
    }
  })

  test('[G3] the base class of every IdpClient is exported under the name that hover shows', async () => {
    const entries = ['idp-client', 'idp-client/next', 'idp-client/express']
    const text = entries.map(
      (entry, index) =>
        `import type { IdpClient as C${index}, IdpClientBase as B${index} } from '${entry}'\n` +
        `export type T${index} = C${index} extends B${index}<infer _Request, infer _Response, infer _Redirect> ? true : never\n` +
        `export const is${index}: T${index} = true\n`,
    )
    expect(await app.compile({ 'base.ts': text.join('') })).toBe('')
  })
})

function declarationFiles() {
  const found = readdirSync(app.installed, { recursive: true })
  return found.filter((file) => file.endsWith('.d.ts'))
}

/** Declared names with their doc comment, and how often they are declared. */
function declarations() {
  const found = new Map()
  for (const file of declarationFiles()) {
    const text = readFileSync(join(app.installed, file), 'utf8')
    const declaration =
      /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type) ([\w$]+)/gm
    for (const [whole, , name] of text.matchAll(declaration)) {
      const { count = 0 } = found.get(name) ?? {}
      found.set(name, { file, text: whole, count: count + 1 })
    }
  }
  return found
}
