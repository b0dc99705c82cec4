import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../run.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))

async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const),
    ),
  )
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idp-codemod-'))
})
afterEach(async () => {
  await chmod(folder, 0o700)
  await rm(folder, { recursive: true, force: true })
})

/** The number of lines that only one of two texts has, as a diff counts them. */
function differingLines(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('\n').slice(0, -1))
  if (a === undefined || b === undefined) return 0
  let row = new Array<number>(b.length + 1).fill(0)
  for (const line of a) {
    const next = [0]
    for (const [at, each] of b.entries())
      next.push(line === each ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0))
    row = next
  }
  return a.length + b.length - 2 * (row[b.length] ?? 0)
}

function totalDifference(one: Map<string, string>, other: Map<string, string>): number {
  const paths = new Set([...one.keys(), ...other.keys()])
  return [...paths].reduce((sum, path) => sum + differingLines(one.get(path) ?? '', other.get(path) ?? ''), 0)
}

describe.each([
  {
    name: 'nextjs-auth0',
    example: 'nextjs-auth0-v4',
    former: /@auth0|AUTH0_(?!SECRET=)|Auth0(?:Client|Provider)/,
    // Its sessions are in a store: the former secret is not needed.
    unlisted: ['.env.example'],
  },
  {
    name: 'express-openid-connect',
    example: 'express-openid-connect',
    former: /ISSUER_BASE|-openid-connect/,
    unlisted: [],
  },
  {
    name: 'next-auth',
    example: 'next-auth-v4',
    former: /NEXTAUTH_URL|OIDC_|useSession|signIn|getServerSession/,
    // A component around the provider is not needed, but works; the dependencies are in another order.
    unlisted: ['app/layout.tsx', 'components/providers.tsx', 'package.json'],
  },
])('[G5] the application of the migration guide of $name', ({ name, example, former, unlisted }) => {
  const source = join(root, 'examples/migration', example)
  beforeEach(() => cp(join(source, 'before'), folder, { recursive: true }))

  test('is rewritten, and every difference from the migrated application is in the list', async () => {
    const { code, stdout } = await run(['codemod', name, folder])
    expect(code).toBe(0)
    const [changed, byHand] = stdout.split('To do by hand:')
    const rewritten = await filesBelow(folder)
    const after = await filesBelow(join(source, 'after'))
    const paths = [...new Set([...rewritten.keys(), ...after.keys()])]
    const unfinished = paths.filter((path) => after.get(path) !== rewritten.get(path))
    expect(unfinished.length).toBeGreaterThan(0)
    for (const path of unfinished.filter((each) => !unlisted.some((other) => other === each)))
      expect(byHand).toContain(` ${path}:`)
    for (const text of rewritten.values()) expect(text).not.toMatch(former)
    expect(changed).toContain('  .env.example\n')
  })

  test('is as far from the migrated application as its page says', async () => {
    const after = await filesBelow(join(source, 'after'))
    const whole = totalDifference(await filesBelow(folder), after)
    const { stdout } = await run(['codemod', name, folder])
    const steps = stdout.split('To do by hand:\n')[1]?.trimEnd().split('\n').length
    const left = totalDifference(await filesBelow(folder), after)
    const page = await readFile(join(root, 'docs/migration', `${example}.md`), 'utf8')
    expect(page.replaceAll('\n', ' ')).toContain(
      `the diff to the migrated application has ${whole} lines before the codemod and ${left} after it, and the list has ${steps} entries`,
    )
  })

  test('is not changed by a dry run, which prints the same list', async () => {
    const before = await filesBelow(folder)
    const dry = await run(['codemod', name, folder, '--dry-run'])
    expect(await filesBelow(folder)).toEqual(before)
    const real = await run(['codemod', name, folder])
    expect(dry.stdout).toBe(real.stdout.replace('Changed:', 'Would change:'))
  })

  test('is not changed by a second run', async () => {
    await run(['codemod', name, folder])
    const first = await filesBelow(folder)
    expect((await run(['codemod', name, folder])).stdout).not.toContain('Changed:')
    expect(await filesBelow(folder)).toEqual(first)
  })

  test('[O6] gets one entry in a manifest that has the package already', async () => {
    const path = join(folder, 'package.json')
    const manifest = await readFile(path, 'utf8')
    await writeFile(
      path,
      manifest.replace('"dependencies": {', '"dependencies": {\n    "idp-client": "file:x.tgz",'),
    )
    await run(['codemod', name, folder])
    await run(['codemod', name, folder])
    expect((await readFile(path, 'utf8')).match(/"idp-client"/g)).toHaveLength(1)
  })

  test('a folder that does not exist is an error', async () => {
    const { code, stderr } = await run(['codemod', name, join(folder, 'nowhere')])
    expect([code, stderr.includes('ENOENT')]).toEqual([1, true])
  })
})

test('line ends and byte order marks stay', async () => {
  await writeFile(join(folder, '.env'), `\uFEFFSECRET=${'x'.repeat(32)}\r\nBASE_URL=x\r\n`)
  const source = [
    "import { auth } from 'express-openid-connect'",
    '',
    'app.use(auth({ idpLogout: true }))',
    '',
  ]
  await writeFile(join(folder, 'a.js'), source.join('\r\n'))
  await writeFile(join(folder, 'b.js'), 'process.env.BASE_URL\r\na\n')
  await run(['codemod', 'express-openid-connect', folder])
  const files = await filesBelow(folder)
  const secret = 'x'.repeat(32)
  expect(files.get('.env')).toBe(`\uFEFFIDP_SECRET=${secret}\r\nSECRET=${secret}\r\nAPP_BASE_URL=x\r\n`)
  expect(files.get('a.js')).toContain('app.use(idp.middleware)\r\n')
  expect(files.get('a.js')).not.toMatch(/[^\r]\n/)
  expect(files.get('b.js')).toBe('process.env.APP_BASE_URL\r\na\n')
})

test('the folder of several applications is an error, and nothing is written', async () => {
  for (const name of ['apps/web', 'apps/other']) await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"workspaces":["apps/*"]}')
  await writeFile(join(folder, 'apps/web/package.json'), '{"dependencies":{"next-auth":"4.24.0"}}')
  await writeFile(join(folder, 'apps/other/.env'), 'NEXTAUTH_URL=x\n')
  const before = await filesBelow(folder)
  const { code, stderr } = await run(['codemod', 'next-auth', folder])
  expect([code, stderr]).toEqual([
    1,
    'Run the codemod in the folder of each application that uses next-auth: apps/web. Nothing was changed.\n',
  ])
  expect(await filesBelow(folder)).toEqual(before)
  expect((await run(['codemod', 'next-auth', join(folder, 'apps/web')])).code).toBe(0)
})

test('a file that is not UTF-8 keeps its bytes, and is reported', async () => {
  const bytes = Buffer.from('process.env.BASE_URL // f\xfcr\n', 'latin1')
  await writeFile(join(folder, 'a.js'), bytes)
  const { stdout } = await run(['codemod', 'express-openid-connect', folder])
  expect(stdout).toBe('To do by hand:\n  a.js is not UTF-8, and was not read.\n')
  expect((await readFile(join(folder, 'a.js'))).equals(bytes)).toBe(true)
})

test('links are not followed', async () => {
  await mkdir(join(folder, 'application'))
  await mkdir(join(folder, 'outside'))
  await writeFile(join(folder, 'outside', 'a.js'), 'process.env.BASE_URL\n')
  await symlink('../outside', join(folder, 'application', 'folder'))
  await symlink('../outside/a.js', join(folder, 'application', 'a.js'))
  await symlink('.', join(folder, 'application', 'circle'))
  const { stdout } = await run(['codemod', 'express-openid-connect', join(folder, 'application')])
  expect(stdout).toBe('Nothing to change.\n')
})

/** Runs a function as a user without rights, where the tests run with all of them. */
async function withoutRights(action: () => Promise<void>): Promise<void> {
  const seteuid = process.geteuid?.() === 0 ? process.seteuid : undefined
  seteuid?.(65534)
  try {
    await action()
  } finally {
    seteuid?.(0)
  }
}

test('a file that cannot be read is an error, and nothing is written', async () => {
  await mkdir(join(folder, 'z'))
  await writeFile(join(folder, '.env'), 'BASE_URL=x\n')
  await writeFile(join(folder, 'z', 'server.js'), 'process.env.BASE_URL\n')
  await chmod(join(folder, 'z', 'server.js'), 0o000)
  await chmod(folder, 0o777)
  await withoutRights(async () => {
    const { code, stdout, stderr } = await run(['codemod', 'express-openid-connect', folder])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('EACCES')
  })
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe('BASE_URL=x\n')
})

test('a file that cannot be written is an error, and the next run continues', async () => {
  await writeFile(join(folder, '.env'), 'BASE_URL=x\n')
  await chmod(join(folder, '.env'), 0o444)
  await chmod(folder, 0o755)
  await withoutRights(async () => {
    const { code, stderr } = await run(['codemod', 'express-openid-connect', folder])
    expect([code, stderr.includes('EACCES')]).toEqual([1, true])
  })
  await chmod(join(folder, '.env'), 0o644)
  await run(['codemod', 'express-openid-connect', folder])
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe('APP_BASE_URL=x\n')
})

test.each([
  [['codemod']],
  [['codemod', 'next-auth']],
  [['codemod', 'next-auth', '--dry-run']],
  [['codemod', 'nextjs-auth', '.']],
  [['codemod', 'toString', '.']],
  [['codemod', 'express-openid-connect', '.', '--force']],
])('%j prints the usage with exit code 2', async (parameters) => {
  expect(await run(parameters)).toMatchObject({ code: 2, stdout: '' })
})
