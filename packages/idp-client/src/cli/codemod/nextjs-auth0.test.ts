import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codes } from '../../errors/codes.ts'
import { run } from '../run.ts'
import { remarkVariables, rewriteEnvironment, rewriteSource } from './nextjs-auth0.ts'
import { codes as peerCodes, unavailable } from './nextjs-auth0-rules.ts'

const example = fileURLToPath(new URL('../../../../../examples/migration/nextjs-auth0-v4/', import.meta.url))

async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const),
    ),
  )
}

describe('[G5] the application of the migration guide', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idp-codemod-'))
    await cp(join(example, 'before'), folder, { recursive: true })
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('is rewritten, and every difference from the migrated application is in the list', async () => {
    const { code, stdout } = await run(['codemod', 'nextjs-auth0', folder])
    expect(code).toBe(0)
    const [changed, byHand] = stdout.split('To do by hand:')
    const rewritten = await filesBelow(folder)
    const after = await filesBelow(join(example, 'after'))
    expect([...rewritten.keys()].sort()).toEqual([...after.keys()].sort())
    const unfinished = [...after].filter(([path, text]) => rewritten.get(path) !== text).map(([path]) => path)
    expect(unfinished.length).toBeGreaterThan(0)
    for (const path of unfinished) expect(byHand).toContain(`  ${path}:`)
    for (const text of rewritten.values()) expect(text).not.toMatch(/@auth0|AUTH0_|Auth0(?:Client|Provider)/)
    expect(changed).toContain('  .env.example\n')
  })

  test('is not changed by a dry run, which prints the same list', async () => {
    const before = await filesBelow(folder)
    const dry = await run(['codemod', 'nextjs-auth0', folder, '--dry-run'])
    expect(await filesBelow(folder)).toEqual(before)
    const real = await run(['codemod', 'nextjs-auth0', folder])
    expect(dry.stdout).toBe(real.stdout.replace('Changed:', 'Would change:'))
  })

  test('is not changed by a second run', async () => {
    await run(['codemod', 'nextjs-auth0', folder])
    const first = await filesBelow(folder)
    expect((await run(['codemod', 'nextjs-auth0', folder])).stdout).not.toContain('Changed:')
    expect(await filesBelow(folder)).toEqual(first)
  })
})

describe('imports', () => {
  const rewritten = (text: string): string => rewriteSource(text).text

  test.each([
    [
      "import { Auth0Client } from '@auth0/nextjs-auth0/server'\nnew Auth0Client()",
      "import { IdpClient } from 'idp-client/next'\nnew IdpClient()",
    ],
    [
      "import type { Auth0ClientOptions as Options } from '@auth0/nextjs-auth0/types'",
      "import type { IdpClientOptions as Options } from 'idp-client/next'",
    ],
    [
      'import {\n  SdkError,\n  type OAuth2Error,\n} from "@auth0/nextjs-auth0/errors"',
      'import {\n  IdpError,\n  type OAuthError,\n} from "idp-client/errors"',
    ],
    ["import { useUser } from '@auth0/nextjs-auth0'", "import { useUser } from 'idp-client/react'"],
    ["export { SdkError } from '@auth0/nextjs-auth0/errors'", "export { IdpError } from 'idp-client/errors'"],
    ["vi.mock('@auth0/nextjs-auth0/server')", "vi.mock('idp-client/next')"],
    [
      "import { AccessTokenError, TokenRevocationError } from '@auth0/nextjs-auth0/errors'",
      "import { AccessTokenError, AccessTokenError as TokenRevocationError } from 'idp-client/errors'",
    ],
  ])('%s', (before, after) => {
    expect(rewritten(before)).toBe(after)
  })

  test('keep the old name in a file that already uses the new one', () => {
    const text =
      "import { Auth0Client } from '@auth0/nextjs-auth0/server'\nclass IdpClient extends Auth0Client {}"
    expect(rewritten(text)).toContain('import { IdpClient as Auth0Client }')
    expect(rewritten(text)).toContain('class IdpClient extends Auth0Client {}')
  })

  test('without a counterpart stay, with a remark', () => {
    const { text, remarks } = rewriteSource("import { passkey } from '@auth0/nextjs-auth0/client'")
    expect(text).toContain('passkey')
    expect(remarks).toEqual([{ line: 1, text: 'passkey has no counterpart.' }])
  })
})

test('codes are changed only in files that import the package, methods everywhere', () => {
  const body = "\nif (error.code === 'missing_session') await auth0.getConnectedAccounts()\n"
  const list = 'await auth0.listConnectedAccounts()'
  expect(rewriteSource(`import { SdkError } from '@auth0/nextjs-auth0/errors'${body}`).text).toContain(
    `if (error.code === 'MISSING_SESSION') ${list}`,
  )
  const other = rewriteSource(body)
  expect(other.text).toContain(`if (error.code === 'missing_session') ${list}`)
  expect(other.remarks).toContainEqual({ line: 2, text: expect.stringContaining('upper case') })
})

test('variables are changed in sources and environment files; unknown variables and deployment files are reported', () => {
  expect(rewriteSource('process.env.AUTH0_CLIENT_ID').text).toBe('process.env.IDP_CLIENT_ID')
  expect(rewriteEnvironment('AUTH0_SECRET=x\nAUTH0_AUDIENCE=y\nAUTH0_SECRETS=z')).toEqual({
    text: 'IDP_SECRET=x\nAUTH0_AUDIENCE=y\nAUTH0_SECRETS=z',
    remarks: [
      { line: 2, text: 'AUTH0_AUDIENCE is no variable of idp-client; it was left as it is.' },
      { line: 3, text: 'AUTH0_SECRETS is no variable of idp-client; it was left as it is.' },
    ],
  })
  expect(remarkVariables('env:\n  AUTH0_DOMAIN: x\n')).toEqual([
    { line: 2, text: 'AUTH0_DOMAIN is called IDP_DOMAIN now.' },
  ])
})

test.each([
  ['onCallback: async (error, context, session) => {', 'onCallback takes one argument'],
  ['  async update(id, session) {', 'update takes a function'],
  ['auth0.disconnectAccount({ connection })', 'deleteConnectedAccount'],
  ['domain: async ({ headers }) => "x"', 'one provider'],
  ["mutate('/auth/profile')", 'invalidate()'],
  ["fetch('/me/v1/factors')", 'not mounted'],
])('%s gets a remark', (line, text) => {
  const { remarks } = rewriteSource(`import { Auth0Client } from '@auth0/nextjs-auth0/server'\n${line}`)
  expect(remarks).toEqual([{ line: 2, text: expect.stringContaining(text) }])
})

test('every code that is written or named in a remark exists', () => {
  const named = Object.values(unavailable).flatMap((text) => text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])
  for (const code of [...peerCodes.map((code) => code.toUpperCase()), ...named])
    expect(Object.keys(codes)).toContain(code)
})

test.each([
  [['codemod']],
  [['codemod', 'nextjs-auth0']],
  [['codemod', 'next-auth', '.']],
  [['codemod', 'nextjs-auth0', '.', '--force']],
])('%j prints the usage with exit code 2', async (parameters) => {
  expect(await run(parameters)).toMatchObject({ code: 2, stdout: '' })
})

test('a folder that does not exist is an error', async () => {
  const { code, stderr } = await run(['codemod', 'nextjs-auth0', join(example, 'nowhere')])
  expect([code, stderr.includes('ENOENT')]).toEqual([1, true])
})
