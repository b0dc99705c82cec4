import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codes } from '../../errors/codes.ts'
import { version } from '../../lib/version.ts'
import { run } from '../run.ts'
import { rewriteFile } from './application.ts'
import { rewriteManifest } from './manifest.ts'
import { nextjsAuth0, remarkRuntime, rewriteSource } from './nextjs-auth0.ts'
import { codes as peerCodes, unavailable } from './nextjs-auth0-rules.ts'

describe('[O6] the manifest', () => {
  const peer = '"@auth0/nextjs-auth0": "4.30.0"'
  const rewritten = (text: string): string => rewriteManifest(text, '@auth0/nextjs-auth0')

  test('[O6] of an application that already has idp-client loses the other package', () => {
    const own = '"idp-client": "file:../idp-client-1.0.0.tgz"'
    const next = '"next": "16.4.5"'
    const withPeer = (...entries: string[]): string =>
      `{\n  "dependencies": {\n    ${entries.join(',\n    ')}\n  }\n}\n`
    const expected = withPeer(own, next)
    expect(rewritten(withPeer(peer, own, next))).toBe(expected)
    expect(rewritten(withPeer(own, peer, next))).toBe(expected)
    expect(rewritten(withPeer(own, next, peer))).toBe(expected)
    const alone = `{ "dependencies": { ${own} }, "devDependencies": { ${peer} } }`
    expect(JSON.parse(rewritten(alone))).toEqual({
      dependencies: { 'idp-client': 'file:../idp-client-1.0.0.tgz' },
      devDependencies: {},
    })
  })

  test('[O6] has the new package in place of the other one', () => {
    expect(rewritten(`{ "dependencies": { ${peer} } }`)).toBe(
      `{ "dependencies": { "idp-client": "^${version}" } }`,
    )
  })
})

test('[O6] a change that is needed in several places is listed once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idp-codemod-'))
  try {
    await writeFile(
      join(folder, 'compose.yml'),
      'a: $AUTH0_CLIENT_ID $AUTH0_CLIENT_ID\nb: $AUTH0_CLIENT_ID\n',
    )
    await writeFile(join(folder, 'deploy.sh'), 'echo $AUTH0_CLIENT_ID $AUTH0_DOMAIN\n')
    const { stdout } = await run(['codemod', 'nextjs-auth0', folder])
    expect(stdout.split('\n').filter((line) => line.includes('AUTH0_'))).toEqual([
      '  compose.yml:1, compose.yml:2, deploy.sh:1 AUTH0_CLIENT_ID is called IDP_CLIENT_ID now.',
      '  deploy.sh:1 AUTH0_DOMAIN is called IDP_DOMAIN now.',
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('[O6] a middleware on the edge runtime gets a remark', () => {
  const text =
    "import { auth0 } from './lib/auth0'\nexport const middleware = (r: Request) => auth0.middleware(r)\n"
  const config = "export const config = { runtime: 'nodejs', matcher: ['/'] }\n"
  expect(remarkRuntime(text)).toEqual([{ line: 2, text: expect.stringContaining("runtime: 'nodejs'") }])
  expect(remarkRuntime(text + config)).toEqual([])
  expect(remarkRuntime('export const middleware = () => undefined')).toEqual([])
})

test('the remark on takeOver depends on where the former sessions are', () => {
  const list = (options: string) => {
    const text = `import { Auth0Client } from '@auth0/nextjs-auth0/server'\nnew Auth0Client(${options})\n`
    const remarks = rewriteSource(text).remarks.map((remark) => remark.text.split(' so that')[0])
    return remarks.filter((remark) => remark?.includes('takeOver'))
  }
  const inCookies = 'Add takeOver: nextjsAuth0({ secret: process.env.AUTH0_SECRET, until }),'
  expect(list('')).toEqual([inCookies])
  expect(list('{ sessionStore }')).toEqual([
    'Add takeOver with a function that reads the former sessionStore,',
  ])
  expect(list('{ sessionStore, takeOver }')).toEqual([])
})

test('methods are renamed, unless the application has one of the same name', () => {
  const use = 'const list = await bank.getConnectedAccounts()\n'
  const service = 'export class Bank {\n  async getConnectedAccounts(): Promise<Account[]> {}\n}\n'
  const change = (files: Record<string, string>) => {
    const map = new Map(Object.entries(files))
    return nextjsAuth0(map).rewriteSource(use, 'a.ts').text
  }
  expect(change({ 'a.ts': use })).toBe('const list = await bank.listConnectedAccounts()\n')
  expect(change({ 'a.ts': use, 'bank.ts': service })).toBe(use)
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
  const codemod = nextjsAuth0(new Map())
  expect(rewriteSource('process.env.AUTH0_CLIENT_ID').text).toBe('process.env.IDP_CLIENT_ID')
  expect(rewriteFile(codemod, '.env', 'AUTH0_AUDIENCE=y\nAUTH0_SECRET=x\nAUTH0_SECRETS=z')).toEqual({
    text: 'AUTH0_AUDIENCE=y\nIDP_SECRET=x\nAUTH0_SECRET=x\nAUTH0_SECRETS=z',
    remarks: [
      { line: 1, text: 'AUTH0_AUDIENCE is not a variable of idp-client; it was left as it is.' },
      { line: 2, text: expect.stringContaining('32 characters') },
      { line: 4, text: 'AUTH0_SECRETS is not a variable of idp-client; it was left as it is.' },
    ],
  })
  expect(rewriteFile(codemod, 'compose.yml', 'env:\n  AUTH0_DOMAIN: x\n').remarks).toEqual([
    { line: 2, text: 'AUTH0_DOMAIN is called IDP_DOMAIN now.' },
  ])
})

test.each([
  ['new Auth0Client({ takeOver })', "session.expiryClaim: 'session_expiry'"],
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
