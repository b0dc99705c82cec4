import { execFileSync } from 'node:child_process'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { version } from '../../lib/version.ts'
import { run } from '../run.ts'
import { loadInitData } from './guides.ts'

const { guides, providers } = await loadInitData()

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idp-init-'))
})
afterEach(async () => {
  await chmod(folder, 0o700)
  await rm(folder, { recursive: true, force: true })
})

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-C', folder, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

function commitAll(): void {
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Start')
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8')

/** Every file of the folder with its text, without git's own. */
async function readAll(): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.git/'))
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)])))
}

/** Runs work as a user who is not root, who may write everywhere. */
async function asUser<T>(work: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return work()
  const nobody = 65_534
  await chown(folder, nobody, nobody)
  process.seteuid?.(nobody)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

const init = (...args: string[]) => run(['init', ...args], { folder })

const toManifest = (content: object): string => `${JSON.stringify(content, null, 2)}\n`
const nextManifest = toManifest({ name: 'my-app', dependencies: { next: '16.4.3', react: '19.0.0' } })
const tsconfig = toManifest({ compilerOptions: { paths: { '@/*': ['./*'] } } })

describe('hosts', () => {
  test.each(Object.keys(guides).filter((name) => guides[name]?.packages[0]))(
    'finds an application of %s by its dependency, and writes the files of the guide',
    async (name) => {
      const guide = guides[name]
      const dependencies = { [guide?.packages[0] ?? '']: '99.0.0' }
      await write({ 'package.json': toManifest({ dependencies }), 'tsconfig.json': tsconfig })
      expect(await init('--yes')).toMatchObject({ code: 0, stderr: '' })
      const files = await readAll()
      for (const { path, text } of guide?.files ?? []) expect(files[path], path).toBe(text)
    },
  )

  test.each(Object.keys(guides).filter((name) => guides[name]?.needsStarter === false))(
    'makes an application of %s in an empty folder',
    async (name) => {
      expect(await init('--host', name, '--yes')).toMatchObject({ code: 0, stderr: '' })
      const { dependencies, scripts } = JSON.parse(await read('package.json'))
      const expected = { 'idp-client': `^${version}`, ...guides[name]?.dependencies }
      expect(dependencies).toEqual(expected)
      expect(scripts['dev:idp']).toBe(
        'idp-dev-provider --app http://localhost:3000 --write .env -- node --env-file=.env server.mjs',
      )
      expect(await read('.gitignore')).toBe('node_modules\n.env\n')
    },
  )

  test.each([
    ['16.4.3', 'app', ['proxy.ts', 'app/page.tsx', 'lib/idp.ts']],
    ['latest', 'app', ['proxy.ts']],
    ['^15.5.2', 'app', ['middleware.ts', 'app/page.tsx']],
    ['15.4.0', 'app', ['app/auth/[...idp]/route.ts', 'app/page.tsx']],
    ['~14.2.0', 'app', ['app/auth/[...idp]/route.ts']],
    ['16.4.3', 'pages', ['proxy.ts', 'pages/legacy/account.tsx', 'pages/_app.tsx']],
    ['15.5.0', 'src/pages', ['src/middleware.ts', 'src/pages/legacy/account.tsx', 'src/lib/idp.ts']],
    ['14.2.0', 'src/app', ['src/app/auth/[...idp]/route.ts', 'src/lib/idp.ts']],
  ])('follows the quick start for Next.js %s with %s', async (range, router, paths) => {
    await write({
      'package.json': toManifest({ dependencies: { next: range } }),
      'tsconfig.json': tsconfig,
      [`${router}/layout.tsx`]: '',
    })
    expect((await init('--yes')).code).toBe(0)
    const written = Object.keys(await readAll())
    expect(written).toEqual(expect.arrayContaining(paths))
    expect(
      written.filter((path) => /(?:proxy|middleware)\.ts$|route\.ts$/.test(path) && !path.includes('/api/')),
    ).toHaveLength(1)
  })

  test('without the alias @/ files import each other by relative paths', async () => {
    await write({ 'package.json': nextManifest, 'src/app/layout.tsx': '' })
    await init('--yes')
    expect(await read('src/proxy.ts')).toContain("from './lib/idp'")
    expect(await read('src/app/account/page.tsx')).toContain("from '../../lib/idp'")
  })

  test('the installed version of Next.js counts, not its range', async () => {
    await write({
      'package.json': toManifest({ dependencies: { next: '>=14' } }),
      'node_modules/next/package.json': toManifest({ name: 'next', version: '16.0.1' }),
    })
    await init('--yes')
    expect(Object.keys(await readAll())).toContain('proxy.ts')
  })

  test.each([
    [
      { express: '5.0.0', next: '16.0.0' },
      /more than one framework: next, express\. Name it: --host <name>, one of: next, /,
    ],
    [
      { rails: '8.0.0' },
      /The framework of this application is not known\. Name it: --host <name>, one of: next, express, /,
    ],
  ])('with %j asks for --host', async (dependencies, message) => {
    await write({ 'package.json': toManifest({ dependencies }) })
    const { code, stderr } = await init('--yes')
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
    expect(Object.keys(await readAll())).toEqual(['package.json'])
    expect((await init('--host', 'express', '--yes')).code).toBe(0)
  })

  test('packages that depend on another version of the framework are left to the user', async () => {
    await write({ 'package.json': toManifest({ dependencies: { astro: '^5.18.2' } }) })
    expect((await init('--yes')).stdout).toContain(
      'Install @astrojs/node in the version that fits astro ^5.18.2: npm install @astrojs/node@<version>',
    )
    expect(JSON.parse(await read('package.json')).dependencies).not.toHaveProperty('@astrojs/node')
  })

  test('finds an application by its configuration where its packages are listed elsewhere', async () => {
    await write({ 'package.json': toManifest({ name: 'shop' }), 'astro.config.ts': 'export default {}\n' })
    const { code, stdout } = await init('--yes')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('astro.config.ts is in the place of astro.config.mjs'),
    ])
    expect(Object.keys(await readAll())).not.toContain('astro.config.mjs')
  })
})

describe('bad input', () => {
  test.each([
    [['--host', 'rails'], /^--host rails is not known\. Use one of: next, express, /],
    [
      ['--provider', 'myspace'],
      /^--provider myspace is not known\. Use one of: dev, keycloak, auth0, entra, /,
    ],
    [['--provider', 'constructor'], /^--provider constructor is not known/],
    [['--unknown'], /--unknown/],
    [['folder'], /folder/],
    [
      ['--from', '.', '--host', 'express'],
      /^--from \.: the folder has 0 files idp-client-\*\.tgz, one is needed\.\n$/,
    ],
  ])('%j is an error of the arguments', async (args, message) => {
    const { code, stdout, stderr } = await init(...args)
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)])
    expect(await readdir(folder)).toEqual([])
  })

  test('a folder that is no application', async () => {
    expect(await init('--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^This folder is empty\..* npm create idp-app\.\n$/),
    })
    expect(await init('--host', 'next', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Next\.js 16 needs an application of its starter/),
    })
    await write({ 'notes.txt': '' })
    for (const args of [['--yes'], ['--host', 'express', '--yes']])
      expect(await init(...args)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^This folder has no package\.json/),
      })
    await write({ 'package.json': '[]' })
    expect(await init('--yes')).toMatchObject({
      code: 1,
      stderr: 'package.json is not a JSON object. Correct it first.\n',
    })
    expect((await readdir(folder)).sort()).toEqual(['notes.txt', 'package.json'])
  })

  test('refuses changes that are not committed, without --force', async () => {
    await write({ 'package.json': nextManifest })
    commitAll()
    await write({ 'lib/mine.ts': '' })
    const before = await readAll()
    const { code, stderr } = await init('--yes')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^This folder has changes that are not committed: lib\/\./),
    ])
    expect(await readAll()).toEqual(before)
    expect((await init('--yes', '--force')).code).toBe(0)
  })

  test('a file that cannot be written leaves nothing half-written', async () => {
    await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig, app: 'not a folder\n' })
    const before = await readAll()
    const { code, stderr } = await init('--yes')
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^app\/page\.tsx cannot be \w+ \((?:ENOTDIR|EEXIST)\)/),
    ])
    expect(await readAll()).toEqual(before)
    expect((await readdir(folder)).sort()).toEqual(['app', 'package.json', 'tsconfig.json'])
  })

  test('without the right to write', async () => {
    await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
    await chmod(folder, 0o555)
    const { code, stderr } = await asUser(() => init('--yes'))
    expect([code, stderr]).toEqual([1, 'package.json cannot be written (EACCES). Nothing was changed.\n'])
    expect(await readAll()).toEqual({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
  })

  test('a file that is created while the user reads the plan is not replaced', async () => {
    await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
    const confirm = async (): Promise<boolean> => {
      await write({ 'proxy.ts': 'mine\n' })
      return true
    }
    const { code, stderr } = await run(['init'], { folder, confirm })
    expect([code, stderr]).toEqual([1, 'proxy.ts cannot be written (EEXIST). Nothing was changed.\n'])
    expect(await readAll()).toEqual({
      'package.json': nextManifest,
      'proxy.ts': 'mine\n',
      'tsconfig.json': tsconfig,
    })
    expect(await readdir(folder)).not.toContain('lib')
  })

  test('a file that changes while the user reads the plan is not replaced', async () => {
    await write({ 'package.json': nextManifest })
    const confirm = async (): Promise<boolean> => {
      await write({ 'package.json': '{}' })
      return true
    }
    const { code, stderr } = await run(['init'], { folder, confirm })
    expect([code, stderr]).toEqual([
      1,
      'package.json cannot be written (it was changed in the meantime). Nothing was changed.\n',
    ])
    expect(await readAll()).toEqual({ 'package.json': '{}' })
  })

  test('does not write through a link that leaves the application', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'idp-init-outside-'))
    try {
      await write({ 'package.json': nextManifest })
      await symlink(outside, join(folder, 'lib'))
      expect(await init('--yes')).toMatchObject({
        code: 1,
        stderr: 'lib is a link to a folder outside of the application.\n',
      })
      expect(await readdir(outside)).toEqual([])
    } finally {
      await rm(outside, { recursive: true })
    }
  })
})

describe('the plan', () => {
  test('is shown as a diff; without consent nothing is written', async () => {
    await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
    const before = await readAll()
    const silent = await init()
    expect(silent.code).toBe(1)
    expect(silent.stderr).toContain('+     "idp-client": "^')
    expect(silent.stderr).toContain("proxy.ts (new)\n+ import type { NextRequest } from 'next/server'\n")
    expect(silent.stderr).toMatch(/Nothing was written\. Say --yes to write 8 files\.\n$/)
    const confirm = vi.fn(async () => false)
    expect(await run(['init'], { folder, confirm })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Nothing was written.\n',
    })
    expect(confirm).toHaveBeenCalledWith(
      expect.stringMatching(/proxy\.ts \(new\)[\s\S]*Write 8 files\? \[y\/N\] $/),
    )
    const dry = await init('--dry-run')
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringMatching(/Nothing was written \(--dry-run\)\.\n$/),
    ])
    expect(await readAll()).toEqual(before)
    expect((await run(['init'], { folder, confirm: async () => true })).code).toBe(0)
  })

  test('says what it wrote and the one command, and a second run changes nothing', async () => {
    await write({
      'package.json': nextManifest,
      'tsconfig.json': tsconfig,
      '.gitignore': '/node_modules\n.env*\n',
    })
    commitAll()
    const { stdout } = await init('--yes')
    expect(stdout).toMatch(/^Wrote:\n {2}package\.json\n {2}lib\/idp\.ts \(new\)\n/)
    expect(stdout).toMatch(
      /log in as alice at http:\/\/localhost:3000:\n\n {2}npm install && npm run dev:idp\n$/,
    )
    expect(await read('.gitignore')).toBe('/node_modules\n.env*\n')
    const before = await readAll()
    const again = await init('--yes')
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^Nothing to change\.\n\nStart /)])
    expect(await readAll()).toEqual(before)
  })

  test.each([
    ['pnpm-lock.yaml', 'pnpm install && pnpm run dev:idp'],
    ['yarn.lock', 'yarn install && yarn run dev:idp'],
    ['bun.lock', 'bun install && bun run dev:idp'],
  ])('with %s says %s', async (lockfile, command) => {
    await write({ 'package.json': nextManifest, [lockfile]: '' })
    expect((await init('--yes')).stdout).toContain(`\n  ${command}\n`)
    const manager = command.split(' ')[0]
    expect(JSON.parse(await read('package.json')).scripts['dev:idp']).toMatch(
      new RegExp(` -- ${manager} run dev$`),
    )
  })

  test('a package that is there already keeps its range, and package.json its style', async () => {
    const text =
      '{\r\n\t"dependencies": {\r\n\t\t"idp-client": "file:../a.tgz",\r\n\t\t"next": "16.0.0"\r\n\t},\r\n\t"private": true\r\n}'
    await write({ 'package.json': text })
    await init('--yes')
    const edited = await read('package.json')
    expect(edited).toContain('\r\n\t\t"idp-client": "file:../a.tgz",\r\n')
    expect(edited).toMatch(/^\{\r\n\t"dependencies": [\s\S]*"private": true,\r\n\t"scripts": [\s\S]*\}$/)
    expect(edited.replaceAll('\r\n', '')).not.toContain('\n')
  })

  test('--from takes the packed packages of a folder', async () => {
    await write({
      'package.json': nextManifest,
      'vendor/idp-client-0.1.0.tgz': '',
      'vendor/idp-dev-provider-0.1.0.tgz': '',
    })
    await init('--yes', '--from', 'vendor')
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      dependencies: { 'idp-client': 'file:vendor/idp-client-0.1.0.tgz' },
      devDependencies: { 'idp-dev-provider': 'file:vendor/idp-dev-provider-0.1.0.tgz' },
    })
  })
})

describe('files that exist', () => {
  test('one as the official starter made it is replaced, another is not: its lines are printed', async () => {
    const starter = await readFile(
      new URL('../../../../../e2e/guides/starters/hono/src/index.ts', import.meta.url),
      'utf8',
    )
    const manifest = toManifest({ dependencies: { hono: '4.0.0' } })
    await write({ 'package.json': manifest, 'src/index.ts': starter })
    expect((await init('--dry-run')).stdout).toMatch(/^- app\.get\('\/', \(c\) => \{$/m)
    await init('--yes')
    const printed = guides['hono']?.files.find(({ path }) => path === 'src/index.ts')?.text
    expect(await read('src/index.ts')).toBe(printed)
    await write({ 'src/index.ts': `${starter}// mine\n` })
    const { code, stdout } = await init('--yes')
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Nothing to change\.\n\nTo do by hand:\n {2}src\/index\.ts has other content\. Combine it with:\n {4}/,
      ),
    ])
    expect(await read('src/index.ts')).toBe(`${starter}// mine\n`)
  })

  test.each(['app/page.jsx', 'middleware.ts', 'src/proxy.js'])(
    'with %s the printed file is left to the user',
    async (path) => {
      await write({
        'package.json': nextManifest,
        [path]: 'mine\n',
        [path.startsWith('src/') ? 'src/app/x.tsx' : 'app/x.tsx']: '',
      })
      const { stdout } = await init('--yes')
      expect(stdout).toContain(`${path} is in the place of `)
      const written = Object.keys(await readAll())
      expect(written).not.toContain(path.includes('page') ? 'app/page.tsx' : 'proxy.ts')
      expect(written).not.toContain('src/proxy.ts')
    },
  )
})

describe('secrets', () => {
  const variables = ['IDP_DOMAIN', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET', 'IDP_SECRET', 'APP_BASE_URL']

  test.each(Object.keys(providers))(
    'for %s its variables are in the file, and its page is named',
    async (name) => {
      await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
      const { code, stdout } = await init('--provider', name, '--yes')
      expect([code, stdout]).toEqual([0, expect.stringContaining(`/${providers[name]?.page}`)])
      expect((await read('.env.local')).match(/^\w+(?==)/gm)).toEqual(variables)
      expect(JSON.parse(await read('package.json'))).not.toHaveProperty('devDependencies')
    },
  )

  test('they are in a file that git ignores and only the user reads', async () => {
    await write({ 'package.json': nextManifest, 'tsconfig.json': tsconfig })
    commitAll()
    const { stdout } = await init('--provider', 'keycloak', '--yes')
    const secret = /^IDP_SECRET=([0-9a-f]{64})$/m.exec(await read('.env.local'))?.[1] ?? 'none'
    expect(secret).not.toBe('none')
    expect((await stat(join(folder, '.env.local'))).mode & 0o777).toBe(0o600)
    expect(git('status', '--porcelain', '--untracked-files=all')).not.toContain('.env.local')
    const { '.env.local': _, ...others } = await readAll()
    expect(JSON.stringify([others, stdout])).not.toContain(secret)
    const again = await init('--provider', 'keycloak', '--yes')
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^Nothing to change/)])
  })

  test('a value that exists is not replaced', async () => {
    await write({ 'package.json': nextManifest, '.env.local': 'IDP_SECRET=mine\nOTHER=1' })
    const { stdout } = await init('--provider', 'auth0', '--yes')
    expect(stdout).toContain('.env.local has IDP_SECRET already')
    expect(await read('.env.local')).toMatch(
      /^IDP_SECRET=mine\nOTHER=1\n# tenant[\s\S]*\nIDP_DOMAIN=\nIDP_CLIENT_ID=\nIDP_CLIENT_SECRET=\nAPP_BASE_URL=http:\/\/localhost:3000\n$/,
    )
  })

  test('a file that git tracks gets none: they are printed', async () => {
    await write({ 'package.json': nextManifest, '.env.local': 'OTHER=1\n', '.gitignore': '.env.local\n' })
    git('init', '--quiet')
    git('add', '--force', '--all')
    git('commit', '--quiet', '--message', 'Start')
    const { stdout } = await init('--provider', 'auth0', '--yes')
    expect(stdout).toMatch(/Git does not ignore \.env\.local[\s\S]*IDP_SECRET=[0-9a-f]{64}/)
    expect(await read('.env.local')).toBe('OTHER=1\n')
  })

  test.each([
    ['a repository of another user', { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' }],
    ['no git', { PATH: '/nowhere' }],
    ['a damaged index', { GIT_INDEX_FILE: 'package.json' }],
  ])('where git cannot say what it tracks (%s), nothing is written', async (_, env) => {
    await write({ 'package.json': nextManifest, '.env.local': 'OTHER=1\n' })
    git('init', '--quiet')
    git('add', '--force', '--all')
    git('commit', '--quiet', '--message', 'Start')
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const { code, stderr } = await init('--provider', 'keycloak', '--yes')
    vi.unstubAllEnvs()
    expect([code, stderr]).toEqual([1, expect.stringContaining('a git repository that git cannot read')])
    expect(await read('.env.local')).toBe('OTHER=1\n')
    expect(git('status', '--porcelain')).toBe('')
  })

  test('a rule that only this clone has does not protect the file', async () => {
    await write({ 'package.json': nextManifest })
    commitAll()
    await write({ '.git/info/exclude': '.env.local\n' })
    await init('--provider', 'keycloak', '--yes')
    expect(await read('.gitignore')).toBe('.env.local\n')
  })

  test('a value behind a byte order mark is not replaced', async () => {
    await write({ 'package.json': nextManifest, '.env.local': '\uFEFFIDP_DOMAIN=mine\n' })
    await init('--provider', 'keycloak', '--yes')
    expect((await read('.env.local')).match(/IDP_DOMAIN/g)).toHaveLength(1)
  })

  test('what is shown has no secret', async () => {
    await write({ 'package.json': nextManifest })
    const { stdout } = await init('--provider', 'keycloak', '--dry-run')
    expect(stdout).toContain('IDP_SECRET=…')
    expect(stdout).not.toMatch(/[0-9a-f]{64}/)
  })

  test('nor those that the file has already', async () => {
    const others = 'DATABASE_URL=postgres://admin:hunter2@db/shop\nPEM="-----BEGIN\nMIIEvQ\n-----END"\n'
    await write({ 'package.json': nextManifest, '.env.local': others })
    for (const flag of ['--dry-run', '--yes']) {
      const { stdout, stderr } = await init('--provider', 'keycloak', flag)
      expect(stdout).toContain('.env.local')
      expect(stdout + stderr).not.toMatch(/DATABASE_URL|hunter2|MIIEvQ|-----END/)
    }
    expect(await read('.env.local')).toContain(others)
  })

  test('a .gitignore that makes an exception for the file gets a line behind it', async () => {
    await write({ 'package.json': nextManifest, '.gitignore': '.env*\n!.env.local' })
    commitAll()
    await init('--provider', 'auth0', '--yes')
    expect(await read('.gitignore')).toBe('.env*\n!.env.local\n.env.local\n')
    expect(git('check-ignore', '.env.local')).toBe('.env.local\n')
  })

  test.each(['IDP_DOMAIN=https://id.example.com\n', 'export APP_BASE_URL="https://app.example.com"\n'])(
    'the development provider does not write to a file with %j',
    async (env) => {
      await write({ 'package.json': nextManifest, '.env.local': env })
      const { stdout } = await init('--yes')
      expect(JSON.parse(await read('package.json')).scripts['dev:idp']).toBe(
        'idp-dev-provider --app http://localhost:3000 -- npm run dev',
      )
      expect(stdout).toContain('.env.local stays as it is')
      expect(await read('.env.local')).toBe(env)
    },
  )
})
