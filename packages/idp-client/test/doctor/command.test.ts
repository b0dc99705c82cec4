import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BundledProgram } from '../support/bundled-program.ts'
import { bundleProgram } from '../support/bundled-program.ts'
import { selfSigned } from '../support/certificate.ts'
import { runNginx } from '../support/nginx.ts'
import { onFreePort } from '../support/service.ts'
import type { Bench, Variables } from './bench.ts'
import { withBench, withFile } from './bench.ts'
import { BUFFERS } from './running-mistakes.ts'

const folder = mkdtempSync(join(tmpdir(), 'idp-doctor-tls-'))
const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
let program: BundledProgram

beforeAll(async () => {
  const identity = await selfSigned('localhost')
  writeFileSync(certificate, identity.cert)
  writeFileSync(key, identity.key)
  program = await bundleProgram('cli', new URL('../../src/cli/index.ts', import.meta.url))
})
afterAll(async () => {
  await program.remove()
  rmSync(folder, { recursive: true })
})

/** Runs the command as a process of its own, until it ends. */
async function runDoctor(variables: Variables, args: readonly string[], env: Variables = {}) {
  return withFile(variables, async (file) => {
    const child = spawn(process.execPath, [program.file, 'doctor', '--env', file, ...args], {
      env: { NODE_ENV: 'development', PATH: process.env['PATH'], ...env },
    })
    const [stdout, stderr, code] = await Promise.all([
      child.stdout.setEncoding('utf8').toArray(),
      child.stderr.setEncoding('utf8').toArray(),
      new Promise((resolve) => child.once('exit', resolve)),
    ])
    return { stdout: stdout.join(''), stderr: stderr.join(''), code }
  })
}

/** Starts nginx with TLS in front of the application, whose base URL follows from the request. */
async function startSite(bench: Bench, headers: string): Promise<string> {
  const { url: upstream } = await bench.startApplication({ appBaseUrl: undefined, trustProxy: true })
  const { stop, url } = await onFreePort(async (port) => {
    const tls = `listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};`
    const location = `location / { proxy_pass ${upstream}; ${BUFFERS} ${headers} }`
    const stop = await runNginx(`server { ${tls} large_client_header_buffers 4 16k; ${location} }`)
    return { stop, url: `https://localhost:${port}` }
  })
  bench.defer(stop)
  return url
}

const FORWARDED = 'proxy_set_header X-Forwarded-Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;'
const HOST_ONLY = 'proxy_set_header X-Forwarded-Host $http_host;'

describe('behind nginx with TLS', () => {
  const examine = async (bench: Bench, headers: string, env: Variables = {}) => {
    const url = await startSite(bench, headers)
    return runDoctor({ ...bench.variables, APP_BASE_URL: url }, ['--app', url], env)
  }

  test('a healthy set-up is silent', async () => {
    await withBench({}, async (bench) => {
      const result = await examine(bench, FORWARDED, { NODE_EXTRA_CA_CERTS: certificate })
      expect(result).toEqual({ stdout: '', stderr: '', code: 0 })
      expect(bench.provider.count('token')).toBe(1)
    })
  })

  test('a lost X-Forwarded-Proto is named, and the cookie that is not Secure for it', async () => {
    await withBench({}, async (bench) => {
      const { code, stdout } = await examine(bench, HOST_ONLY, { NODE_EXTRA_CA_CERTS: certificate })
      expect(code).toBe(1)
      expect(stdout.match(/^[A-Z_]+$/gm)).toEqual(['FORWARDED_HEADERS_IGNORED', 'COOKIE_NOT_SECURE'])
    })
  })

  test('a certificate that is not trusted is named', async () => {
    await withBench({}, async (bench) => {
      const { code, stdout } = await examine(bench, FORWARDED)
      expect(code).toBe(1)
      expect(stdout).toMatch(/^APP_UNREACHABLE\n.*not issued by a trusted authority/)
    })
  })
})

test('a default file that cannot be read is named', async () => {
  const cwd = mkdtempSync(join(folder, 'unreadable-'))
  mkdirSync(join(cwd, '.env'))
  const child = spawn(process.execPath, [program.file, 'doctor'], { cwd, env: { NODE_ENV: 'development' } })
  const stderr = await child.stderr.setEncoding('utf8').toArray()
  expect(stderr.join('')).toBe('.env or .env.local cannot be read.\n')
})

describe('--config', () => {
  const isTypeScriptLoaded = Boolean(Reflect.get(process.features, 'typescript'))

  test('a TypeScript module is loaded, or a sentence says why not', async () => {
    await withBench({}, async ({ variables }) => {
      const file = join(folder, 'idp.ts')
      writeFileSync(file, 'export const idp: string = "none"\n')
      const { code, stdout } = await runDoctor(variables, ['--config', file])
      expect(code).toBe(1)
      expect(stdout).toContain(isTypeScriptLoaded ? 'exports no IdpClient' : 'does not run TypeScript')
      expect(stdout).toContain('Only the variables were checked.')
    })
  })

  test('the command ends although the module keeps a connection open', async () => {
    await withBench({}, async ({ variables }) => {
      const file = join(folder, 'idp.mjs')
      writeFileSync(file, 'setInterval(() => {}, 1000)\nexport const idp = null\n')
      const { code, stdout } = await runDoctor(variables, ['--config', file])
      expect(code).toBe(1)
      expect(stdout).toContain('exports no IdpClient')
    })
  })
})
