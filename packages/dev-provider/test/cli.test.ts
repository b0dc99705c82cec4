import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'

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

function run(...args: readonly string[]): Run {
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
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

test('prints the variables, serves until it is told to stop, and leaves nothing behind', async () => {
  const running = run('--port', '0', '--app', 'http://localhost:3210', '--path', '/dev-tenant')
  const closed = exitCode(running)
  try {
    await expect.poll(running.output, { timeout: 30_000 }).toContain('Stop with Ctrl-C')
    const env = Object.fromEntries(
      running
        .output()
        .split('\n')
        .filter((line) => /^[A-Z_]+=/.test(line))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    expect(env).toMatchObject({ IDP_CLIENT_ID: 'dev-app', APP_BASE_URL: 'http://localhost:3210' })
    expect(env['IDP_SECRET']).toMatch(/^[\da-f]{64}$/)
    expect(env['IDP_DOMAIN']).toMatch(/^http:\/\/localhost:\d+\/dev-tenant$/)
    const metadata = await fetch(`${env['IDP_DOMAIN']}/.well-known/openid-configuration`)
    expect(metadata.status).toBe(200)
    expect(running.output()).toContain('allowInsecureRequests')
    await expect.poll(running.errors).toContain('GET /dev-tenant/.well-known/openid-configuration 200')
    expect(running.errors()).not.toContain('oidc-provider')
  } finally {
    running.child.kill('SIGTERM')
  }
  expect(await closed).toBe(0)
})

test('explains itself, and refuses what cannot work', async () => {
  const help = run('--help')
  expect(await exitCode(help)).toBe(0)
  expect(help.output()).toContain('--app <url>')
  const wrong = [
    [['--port', 'many'], /--port must be a number/],
    [['--host', '192.0.2.1', '--port', '0'], /loopback/],
    [['--unknown'], /--unknown/],
  ] as const
  for (const [args, message] of wrong) {
    const refused = run(...args)
    expect(await exitCode(refused)).toBe(1)
    expect(refused.errors()).toMatch(message)
    expect(refused.errors()).not.toContain('    at ')
  }
})
