import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBrowser } from '../src/browser/browse.ts'
import { createCookieJar } from '../src/index.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

let folder: string
let cli: string
beforeAll(async () => {
  // Inside the workspace, so that the bundle finds its dependencies.
  const cache = here('../../../node_modules/.cache/')
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'dev-provider-cli-'))
  cli = join(folder, 'cli.mjs')
  await build({
    entryPoints: [here('../src/cli.ts')],
    outfile: cli,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Run {
  readonly child: ChildProcess
  readonly output: () => string
  readonly errors: () => string
}

const run = (...args: readonly string[]): Run => runWith({}, args)

function runWith(env: Readonly<Record<string, string>>, args: readonly string[]): Run {
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  return { child, output: () => output, errors: () => errors }
}

async function exitCode({ child }: Run): Promise<unknown> {
  const [code] = await once(child, 'close')
  return code
}

/** Runs the command with a free port until it is ready; `variables` is what it prints for the application. */
async function serve(
  args: readonly string[],
  use: (variables: Readonly<Record<string, string>>, running: Run) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const running = runWith(env, ['--port', '0', ...args])
  const closed = exitCode(running)
  try {
    await expect.poll(running.output, { timeout: 30_000 }).toContain('Stop with Ctrl-C')
    const lines = running.output().matchAll(/^([A-Z_]+)=(.*)$/gm)
    await use(Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value])), running)
  } finally {
    running.child.kill('SIGTERM')
  }
  expect(await closed).toBe(0)
}

/** Status of a login that returns to the given address: 303 to the login page, or 400. */
async function authorize(issuer: string | undefined, redirectUri: string): Promise<number> {
  const query = new URLSearchParams({
    client_id: 'dev-app',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri,
  })
  const response = await fetch(`${issuer}/authorize?${query}`, { redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

test('prints the variables, serves until it is stopped, and leaves nothing behind', () =>
  serve(['--app', 'http://localhost:3210', '--path', '/dev-tenant'], async (variables, running) => {
    expect(variables).toMatchObject({ IDP_CLIENT_ID: 'dev-app', APP_BASE_URL: 'http://localhost:3210' })
    expect(variables['IDP_SECRET']).toMatch(/^[\da-f]{64}$/)
    expect(variables['IDP_DOMAIN']).toMatch(/^http:\/\/localhost:\d+\/dev-tenant$/)
    const metadata = await fetch(`${variables['IDP_DOMAIN']}/.well-known/openid-configuration`)
    expect(metadata.status).toBe(200)
    expect(running.output()).toContain('allowInsecureRequests')
    await expect.poll(running.errors).toContain('GET /dev-tenant/.well-known/openid-configuration 200')
    expect(running.errors()).not.toContain('oidc-provider')
  }))

test('[N9] writes the variables to a file, keeps its other lines, and prints that', async () => {
  const file = join(folder, '.env')
  await writeFile(file, 'IDP_DOMAIN=http://localhost:1\nMINE=1\n')
  await serve(['--app', 'http://localhost:3210', '--write', file], async (variables, running) => {
    expect(running.output()).toContain(`# Wrote these 5 variables to ${file}.`)
    const { IDP_DOMAIN, ...others } = variables
    expect(others).toHaveProperty('APP_BASE_URL', 'http://localhost:3210')
    const lines = Object.entries(others).map(([name, value]) => `${name}=${value}`)
    expect(await readFile(file, 'utf8')).toBe(
      `${[`IDP_DOMAIN=${IDP_DOMAIN}`, 'MINE=1', ...lines].join('\n')}\n`,
    )
  })
})

test('[N6] does not start with NODE_ENV=production, unless --insecure-production says so', async () => {
  const production = { NODE_ENV: 'production' }
  const refused = runWith(production, ['--port', '0'])
  expect(await exitCode(refused)).toBe(1)
  expect(refused.errors()).toMatch(/^NODE_ENV is production\. .*--insecure-production\.\n$/)
  expect(refused.output()).toBe('')
  const help = runWith(production, ['--help'])
  expect(await exitCode(help)).toBe(0)
  await serve(
    ['--insecure-production'],
    async (variables) => expect(variables['IDP_CLIENT_ID']).toBe('dev-app'),
    production,
  )
})

test('[J6] accepts the callback and logout URLs of --app only, and prints that', () =>
  serve(['--app', 'http://localhost:3210'], async ({ IDP_DOMAIN }, running) => {
    expect(await authorize(IDP_DOMAIN, 'http://localhost:3210/auth/callback')).toBe(303)
    for (const other of ['http://127.0.0.1:3210/auth/callback', 'http://localhost:3000/auth/callback'])
      expect([other, await authorize(IDP_DOMAIN, other)]).toEqual([other, 400])
    await expect
      .poll(running.errors)
      .toContain('invalid_redirect_uri: The redirect URI http://127.0.0.1:3210')
    const logout = (target: string): Promise<Response> => {
      const query = new URLSearchParams({ client_id: 'dev-app', post_logout_redirect_uri: target })
      return fetch(`${IDP_DOMAIN}/oidc/logout?${query}`, { redirect: 'manual' })
    }
    expect((await logout('http://localhost:3210/')).status).toBeLessThan(400)
    expect((await logout('http://localhost:3210/bye')).status).toBe(400)
  }))

test('[J6] registers other callback and logout URLs, or accepts any on this machine', async () => {
  const paths = ['--callback', '/api/auth/callback', '--logout-url', '/bye', '--app', 'http://localhost:3210']
  await serve(paths, async ({ IDP_DOMAIN }) => {
    expect(await authorize(IDP_DOMAIN, 'http://localhost:3210/api/auth/callback')).toBe(303)
    expect(await authorize(IDP_DOMAIN, 'http://localhost:3210/auth/callback')).toBe(400)
    expect(await (await fetch(`${IDP_DOMAIN}/dev`)).text()).toContain('http://localhost:3210/bye')
  })
  await serve(['--allow-loopback-redirects'], async ({ IDP_DOMAIN }) => {
    expect(await authorize(IDP_DOMAIN, 'http://127.0.0.1:3999/any')).toBe(303)
    expect(await authorize(IDP_DOMAIN, 'https://elsewhere.example/')).toBe(400)
  })
})

test('registers the callback and logout URLs of an application below --base-path', async () => {
  await serve(['--base-path', '/shop', '--app', 'http://localhost:3210'], async (variables) => {
    const { APP_BASE_URL, IDP_DOMAIN } = variables
    expect(APP_BASE_URL).toBe('http://localhost:3210')
    expect(await authorize(IDP_DOMAIN, 'http://localhost:3210/shop/auth/callback')).toBe(303)
    expect(await authorize(IDP_DOMAIN, 'http://localhost:3210/auth/callback')).toBe(400)
    const overview = await (await fetch(`${IDP_DOMAIN}/dev`)).text()
    expect(overview).toContain(
      'http://localhost:3210/<br>http://localhost:3210/shop<br>http://localhost:3210/shop/<',
    )
  })
})

test('[N9] registers the APIs of --api beside the default ones', async () => {
  const apis = ['--api', 'https://api.example.com/=read:orders', '--api', 'https://plain.example.com/']
  await serve([...apis, '--auto-login', 'alice'], async ({ IDP_DOMAIN = '' }) => {
    const browser = createBrowser(new URL(IDP_DOMAIN).origin, undefined, () => '')
    for (const [audience, error] of [
      ['https://api.example.com/', null],
      ['https://plain.example.com/', null],
      ['https://api.example.test/', null],
      ['https://api.example.com', 'invalid_target'],
    ] as const) {
      const query = new URLSearchParams({
        client_id: 'dev-app',
        response_type: 'code',
        scope: 'openid read:orders',
        redirect_uri: 'http://localhost:3000/auth/callback',
        audience,
      })
      const result = await browser.visit(`${IDP_DOMAIN}/authorize?${query}`, { jar: createCookieJar() })
      const { searchParams } = new URL(result.kind === 'redirect' ? result.location : 'about:blank')
      expect([audience, searchParams.get('error'), searchParams.has('code')]).toEqual([
        audience,
        error,
        !error,
      ])
    }
  })
})

test('has the options of startDevProvider', () =>
  serve(['--set', 'offlineAccess=refused', '--set', 'codeTtl=5'], async ({ IDP_DOMAIN }) => {
    const metadata = await fetch(`${IDP_DOMAIN}/.well-known/openid-configuration`)
    expect(await metadata.json()).toMatchObject({ scopes_supported: ['openid', 'profile', 'email'] })
  }))

test.each([
  [[], []],
  [['--back-channel-logout'], ['/auth/backchannel-logout']],
  [['--back-channel-logout', '--base-path', '/shop'], ['/shop/auth/backchannel-logout']],
])('[A5] with %j a logout posts to %j', async (flags, expected) => {
  const posts: string[] = []
  const application = createServer((request, response) => {
    posts.push(request.url ?? '')
    response.end()
  }).listen(0, '127.0.0.1')
  await once(application, 'listening')
  const address = application.address()
  const app = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  try {
    await serve([...flags, '--app', app, '--auto-login', 'alice'], async ({ IDP_DOMAIN = '' }) => {
      const browser = createBrowser(new URL(IDP_DOMAIN).origin, undefined, () => '')
      const jar = createCookieJar()
      const query = new URLSearchParams({
        client_id: 'dev-app',
        response_type: 'code',
        scope: 'openid',
        redirect_uri: `${app}${flags.includes('/shop') ? '/shop' : ''}/auth/callback`,
      })
      expect(await browser.visit(`${IDP_DOMAIN}/authorize?${query}`, { jar })).toMatchObject({
        kind: 'redirect',
      })
      await browser.visit(`${IDP_DOMAIN}/oidc/logout?client_id=dev-app`, { jar })
    })
  } finally {
    application.close()
  }
  expect(posts).toEqual(expected)
})

test('with --front-channel-logout the page after a logout loads the application in an iframe', () =>
  serve(
    ['--front-channel-logout', '--base-path', '/shop', '--auto-login', 'alice'],
    async ({ IDP_DOMAIN = '' }) => {
      const browser = createBrowser(new URL(IDP_DOMAIN).origin, undefined, () => '')
      const jar = createCookieJar()
      const query = new URLSearchParams({
        client_id: 'dev-app',
        response_type: 'code',
        scope: 'openid',
        redirect_uri: 'http://localhost:3000/shop/auth/callback',
      })
      await browser.visit(`${IDP_DOMAIN}/authorize?${query}`, { jar })
      const page = await browser.visit(`${IDP_DOMAIN}/oidc/logout?client_id=dev-app`, { jar })
      expect(page.kind === 'page' && page.html).toContain(
        'data-src="http://localhost:3000/shop/auth/frontchannel-logout?',
      )
    },
  ))

/** A program that prints what it was started with, as a command beside the provider. */
const program = (code: string): readonly string[] => ['--port', '0', '--', process.execPath, '-e', code]

test('starts a command with the variables in its environment, and ends with its exit code', async () => {
  const file = join(folder, '.env.command')
  const words = program(
    `fetch(process.env.IDP_DOMAIN + '/.well-known/openid-configuration').then(({ status }) => {
      console.log(JSON.stringify([status, process.env.APP_BASE_URL, process.env.NODE_ENV, process.argv.slice(1)]))
      process.exit(7)
    })`,
  )
  const running = runWith({ NODE_ENV: '' }, ['--write', file, ...words, '--', '--quiet', 'last'])
  expect(await exitCode(running)).toBe(7)
  expect(running.output()).toContain(JSON.stringify([200, 'http://localhost:3000', '', ['--quiet', 'last']]))
  expect(running.output()).toContain(`# Wrote the 5 variables to ${file}.`)
  expect(running.output()).not.toContain('IDP_SECRET')
  expect(await readFile(file, 'utf8')).toContain('IDP_SECRET=')
})

test('a command runs in development unless NODE_ENV says otherwise', async () => {
  const print = program('console.log(process.env.NODE_ENV)')
  const { NODE_ENV: _, ...env } = process.env
  const child = spawn(process.execPath, [cli, ...print], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await once(child, 'close')
  expect(output).toMatch(/^development$/m)
  const other = runWith({ NODE_ENV: 'test' }, print)
  await exitCode(other)
  expect(other.output()).toMatch(/^test$/m)
})

test.each(['SIGINT', 'SIGTERM'] as const)('passes %s to the command, and stops after it', async (signal) => {
  const running = run(
    ...program(
      `process.on('${signal}', () => { console.log('cleaned up'); process.exit(3) }); setInterval(() => {}, 1000); console.log('up')`,
    ),
  )
  await expect.poll(running.output, { timeout: 30_000 }).toMatch(/^up$/m)
  running.child.kill(signal)
  expect(await exitCode(running)).toBe(3)
  expect(running.output()).toMatch(/^cleaned up$/m)
})

test('ends like a shell when a signal ended the command', async () => {
  const running = run(...program("process.kill(process.pid, 'SIGKILL')"))
  expect(await exitCode(running)).toBe(137)
})

test('prints its usage', async () => {
  const help = run('--help')
  expect(await exitCode(help)).toBe(0)
  expect(help.output()).toContain('--app <url>')
})

test.each<readonly [readonly string[], RegExp]>([
  [['--port', 'many'], /--port must be a number/],
  [['--host', '192.0.2.1', '--port', '0'], /loopback/],
  [['--unknown'], /--unknown/],
  [['--set', 'offline=refused'], /there is no setting offline\. There are .*offlineAccess/],
  [['--set', 'offlineAccess=none'], /offlineAccess: use listed or unlisted or refused/],
  [['--set', 'accessTokenTtl=soon'], /accessTokenTtl: use an integer/],
  [['--set', 'dpopNonces'], /dpopNonces: use true or false/],
  [['--write', tmpdir(), '--port', '0'], /^--write: .* is a folder/],
  [['--write', ''], /--write must name a file/],
  [['--write', 'a', '--write', 'b'], /--write can name one file only/],
  [['--write'], /--write/],
  [['--base-path', 'shop'], /--base-path must look like/],
  [['--base-path', '/shop/'], /--base-path must look like/],
  [['--'], /^-- must be followed by a command/],
  [['--port', '0', '--', 'no-such-command'], /The command no-such-command cannot be started \(ENOENT\)\./],
  [['--api', 'https://api.example.com/=read orders'], /^--api .*separate scopes/],
])('rejects %j', async (args, message) => {
  const refused = run(...args)
  expect(await exitCode(refused)).toBe(1)
  expect(refused.errors()).toMatch(message)
  expect(refused.errors()).not.toContain('    at ')
})
