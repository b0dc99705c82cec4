import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { doctorRemedies } from '../../src/cli/doctor/codes.ts'
import { loadSetup } from '../../src/cli/doctor/setup.ts'
import { run } from '../../src/cli/run.ts'
import { customFetch, generateDpopKeyPair } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { withoutWaiting } from '../support/timers.ts'
import type { Bench, Mistake } from './bench.ts'
import { codesIn, withBench, withFile } from './bench.ts'
import { application, BUFFERS, behindNginx, nginx, redis } from './running-mistakes.ts'
import { metadata, network, refusals, settings } from './setup-mistakes.ts'

const groups: Readonly<Record<string, readonly Mistake[]>> = {
  settings,
  network,
  metadata,
  refusals,
  application,
  nginx,
  redis,
}

describe.each(Object.entries(groups))('each mistake is named: %s', (_group, mistakes) => {
  test.each(mistakes.map((mistake) => [mistake.mistake, mistake] as const))(
    '%s',
    async (_title, { also = [], code, make, provider: options }) => {
      await withBench(options, async (bench) => {
        const examination = await make(bench)
        expect(new Set(codesIn(examination))).toEqual(new Set([code, ...also]))
        expect(examination.exitCode).toBe(1)
        for (const secret of bench.secrets) expect(examination.output).not.toContain(secret)
        expect(
          bench.provider.requests('token').filter(({ body }) => body['grant_type'] === 'authorization_code')
            .length,
        ).toBeLessThanOrEqual(1)
      })
    },
  )
})

describe('a healthy set-up', () => {
  const healthy = { report: { healthy: true, findings: [], notes: [] }, exitCode: 0 }

  test('prints nothing', async () => {
    await withBench({}, async ({ startApplication, variables }) => {
      const { url } = await startApplication()
      const { stdout, stderr, code } = await withFile({ ...variables, APP_BASE_URL: url }, (file) =>
        run(['doctor', '--env', file, '--app', url]),
      )
      expect({ stdout, stderr, code }).toEqual({ stdout: '', stderr: '', code: 0 })
    })
  })

  test('an empty variable of the process takes precedence over the file, as in the application', async () => {
    vi.stubEnv('IDP_CLIENT_ID', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    await withBench({}, async ({ byVariables }) => {
      const { report } = await byVariables({})
      expect(report.findings.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^clientId is missing/),
      )
    })
  })

  test('redeems one wrong code, and names no user', async () => {
    await withBench({}, async ({ byOptions, provider }) => {
      expect(await byOptions({ authorizationParameters: { login_hint: 'alice@example.com' } })).toMatchObject(
        healthy,
      )
      expect(provider.count('token')).toBe(1)
      expect(JSON.stringify(provider.requests())).not.toContain('alice')
    })
  })

  test('with --no-probe only metadata and keys are requested', async () => {
    await withBench({}, async ({ byVariables, provider }) => {
      expect(await byVariables({}, ['--no-probe'])).toMatchObject(healthy)
      expect(provider.requests().map(({ endpoint }) => endpoint)).toEqual(['discovery', 'jwks'])
    })
  })

  test('with pushed requests and DPoP', async () => {
    await withBench({ dpopNonces: true }, async ({ byOptions }) => {
      const options = {
        pushedAuthorizationRequests: true,
        useDPoP: true,
        dpopKeyPair: await generateDpopKeyPair(),
      }
      expect(await byOptions(options)).toMatchObject(healthy)
    })
  })

  const toJsonResponse = (body: object, status = 200) => ({
    kind: 'respond' as const,
    status,
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

  test('at a provider that responds with 403 to a wrong code', async () => {
    await withBench({}, async ({ byVariables, provider }) => {
      provider.faults.set('token', toJsonResponse({ error: 'invalid_grant' }, 403))
      expect(await byVariables()).toMatchObject(healthy)
    })
  })

  test('at a provider that fails at prompt=none', async () => {
    await withBench({}, async ({ byVariables, provider }) => {
      const fault = { kind: 'respond', status: 500 } as const
      provider.faults.set('authorize', fault, { when: ({ query }) => query['prompt'] === 'none' })
      expect(await byVariables()).toMatchObject(healthy)
      expect(provider.count('authorize')).toBe(2)
    })
  })

  test('at a provider that fails at prompt=none, and responds to a login with its page', async () => {
    await withBench({}, async ({ byVariables, provider }) => {
      const body = '<form method="post"><input name="password"></form>'
      provider.faults.set('authorize', { kind: 'respond', body })
      provider.faults.set('authorize', { kind: 'respond', status: 500 }, { times: 1 })
      expect(await byVariables()).toMatchObject(healthy)
    })
  })

  test.each(['http://localhost:3000/auth/callback?error=login_required', '/sign-in?client_id=shop'])(
    'at a provider that names %s in JSON instead of redirecting',
    async (url) => {
      await withBench({}, async ({ byVariables, provider }) => {
        provider.faults.set('authorize', toJsonResponse({ redirect: true, url }))
        expect(await byVariables()).toMatchObject(healthy)
      })
    },
  )

  test('with form_post', async () => {
    await withBench({}, async ({ byOptions, provider }) => {
      const authorizationParameters = { response_mode: 'form_post' }
      expect(
        await byOptions({ appBaseUrl: 'https://localhost:3000', authorizationParameters }),
      ).toMatchObject(healthy)
      expect(provider.requests('authorize')).toMatchObject([{ query: { response_mode: 'form_post' } }])
    })
  })

  test('with private_key_jwt', async () => {
    await withBench({}, async ({ byOptions, provider }) => {
      const { clientId, privateKey } = provider.keyClient
      const options = { clientId, clientSecret: undefined, clientAssertionSigningKey: privateKey }
      expect(await byOptions(options)).toMatchObject(healthy)
    })
  })

  test('at a provider without offline_access', async () => {
    await withBench({ offlineAccess: 'refused' }, async ({ byVariables }) => {
      expect(await byVariables()).toMatchObject(healthy)
    })
  })

  test('with a session store, which has no record afterwards', async () => {
    await withBench({}, async ({ byOptions }) => {
      const store = memoryStore({ name: crypto.randomUUID() })
      expect(await byOptions({ sessionStore: store }, { store: true })).toMatchObject(healthy)
      expect(await store.listBySubject('idp-client-check')).toEqual([])
    })
  })

  test('behind nginx as its page configures it', async () => {
    await withBench({}, async (bench) => {
      const location = `${BUFFERS} proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;`
      const server = 'large_client_header_buffers 4 16k;'
      expect(await behindNginx(bench, { server, location })).toMatchObject(healthy)
    })
  })
})

/** Codes of `--config`, see below, and those that need https, see `command.test.ts`. */
const CAUSED_ELSEWHERE = ['CONFIG_NOT_LOADED', 'COOKIE_NOT_SECURE']

test('every code of the doctor is caused by a mistake', () => {
  const caused = new Set(Object.values(groups).flatMap((mistakes) => mistakes.map(({ code }) => code)))
  const isCaused = (code: string): boolean => [...caused].some((name) => name === code)
  expect(Object.keys(doctorRemedies).filter((code) => !isCaused(code))).toEqual(CAUSED_ELSEWHERE)
})

const readPage = (name: string): string =>
  readFileSync(new URL(`../../../../docs/guides/${name}.md`, import.meta.url), 'utf8')

/** Returns the codes in the list of the page about the doctor. */
const readListed = (): string[] =>
  [...readPage('doctor').matchAll(/^\| \[?`([A-Z_]+)`/gm)].map(([, code = '']) => code)

test('the list in the documentation has every code once', () => {
  const listed = readListed()
  expect(new Set(listed).size).toBe(listed.length)
  const caused = Object.values(groups).flatMap((mistakes) => mistakes.map(({ code }) => code))
  expect([...caused, ...Object.keys(doctorRemedies)].filter((code) => !listed.includes(code))).toEqual([])
})

/** Sections about mistakes that show in a login, or in a call of the application, only. */
const IN_LOGINS = [
  'AMBIENT_REQUEST_MISSING',
  'BASE_URL_UNKNOWN',
  'CODE_REFUSED',
  'EXPIRED_STATE',
  'FAILED_TO_REFRESH_TOKEN',
  'FRONTCHANNEL_LOGOUT_ERROR',
  'HOOK_FAILED',
  'HOOK_RESULT',
  'ID_TOKEN_AUDIENCE',
  'ID_TOKEN_ISSUER',
  'ID_TOKEN_MISSING',
  'ID_TOKEN_NONCE',
  'ID_TOKEN_ORGANIZATION',
  'INVALID_REQUEST',
  'MAX_AGE_NOT_MET',
  'MISSING_STATE',
  'REPLAYED_STATE',
  'SERVER_ONLY',
  'SESSION_COOKIE_SHARED',
  'SESSION_EXPIRY_CLAIM',
  'SESSION_NOT_WRITABLE',
  'SESSION_TOO_LARGE',
  'TOKEN_NOT_BOUND',
  'UNKNOWN_STATE',
  'USERINFO_SIGNED',
  'USERINFO_TOKEN_REFUSED',
]

test('the doctor finds the mistakes of the page about troubleshooting, except those that show in a login only', () => {
  const sections = [...readPage('troubleshooting').matchAll(/^### .*\(`([A-Z_]+)`\)$/gm)].map(
    ([, code = '']) => code,
  )
  const listed = readListed()
  expect(sections.filter((code) => !listed.includes(code)).sort()).toEqual(IN_LOGINS)
})

test('every code has a section on the page that its finding names', () => {
  const sections = `${readPage('troubleshooting')}${readPage('doctor')}`
  const codes = Object.values(groups).flatMap((mistakes) => mistakes.map(({ code }) => code))
  expect(codes.filter((code) => !sections.includes(`\`${code}\``))).toEqual([])
})

test('of a long page of the provider only the beginning is read', async () => {
  await withBench({}, async (bench) => {
    let pages = 0
    const pull = (controller: ReadableStreamDefaultController): void => {
      pages += 1
      if (pages > 100) controller.close()
      else controller.enqueue(new Uint8Array(65_536))
    }
    const own: typeof fetch = async (input, init) =>
      String(input).includes('/authorize') ? new Response(new ReadableStream({ pull })) : fetch(input, init)
    expect(codesIn(await bench.byOptions({ [customFetch]: own }))).toContain('REDIRECT_URI_REFUSED')
    expect(pages).toBeLessThan(10)
  })
})

test('without a base URL, the client is checked, and a note says what is not', async () => {
  await withBench({}, async (bench) => {
    const { exitCode, report } = await bench.byVariables({ APP_BASE_URL: '' })
    expect([exitCode, report.findings]).toEqual([0, []])
    expect(report.notes).toEqual([expect.stringContaining('--app')])
    expect([bench.provider.count('token'), bench.provider.count('authorize')]).toEqual([1, 0])
  })
})

describe('--config', () => {
  const before = new Set(Object.keys(process.env))
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!before.has(name)) delete process.env[name]
  })

  const file = fileURLToPath(new URL('../fixtures/doctor', import.meta.url))
  const byModule = (bench: Bench, name: string, args: readonly string[] = []) =>
    bench.byVariables({}, ['--config', `${file}/${name}.ts`, ...args])

  test('checks the options in the code, and its store', async () => {
    await withBench({}, async (bench) => {
      bench.provider.rewrite('discovery', (json) => ({
        ...json,
        pushed_authorization_request_endpoint: undefined,
      }))
      expect(codesIn(await byModule(bench, 'with-par', ['--store']))).toEqual([
        'PAR_NOT_OFFERED',
        'SESSION_STORE_LOST_RECORD',
      ])
    })
  })

  test.each([
    ['throws', /could not be loaded \(TypeError\)/],
    ['without-client', /exports no IdpClient/],
    ['missing', /could not be loaded/],
  ])('a module that %s leaves the variables to be checked', async (name, sentence) => {
    await withBench({}, async (bench) => {
      const { exitCode, output, report } = await byModule(bench, name)
      expect(report.findings).toEqual([
        expect.objectContaining({ code: 'CONFIG_NOT_LOADED', message: expect.stringMatching(sentence) }),
      ])
      expect(exitCode).toBe(1)
      expect(output).not.toContain('p4ssword')
    })
  })

  test('a module that waits for a server leaves the variables to be checked', async () => {
    const { findings } = await withoutWaiting(() => loadSetup({ config: `${file}/waits.ts` }, {}))
    expect(findings[0]).toMatchObject({
      code: 'CONFIG_NOT_LOADED',
      message: expect.stringContaining('waits for something'),
    })
  })

  test('a client without a store leaves nothing for --store, which a note says', async () => {
    await withBench({}, async (bench) => {
      const { report } = await byModule(bench, 'without-store', ['--store'])
      expect(report).toEqual({ healthy: true, findings: [], notes: [expect.stringContaining('--store')] })
    })
  })

  test('an option that is wrong is a finding', async () => {
    await withBench({}, async (bench) => {
      expect(codesIn(await byModule(bench, 'with-wrong-option'))).toEqual(['INVALID_CONFIGURATION'])
    })
  })
})

test.each([
  ['an unknown option', ['--verbose'], /^Unknown option '--verbose'/],
  ['a URL without scheme', ['--app', 'localhost:3000'], /^--app must be an http or https URL/],
  ['a URL with a password', ['--app', 'https://user:p4ssword@example.com'], /^--app must be .* without user/],
  ['--store without the client', ['--store'], /^--store needs --config/],
  ['a file that does not exist', ['--env', '/nowhere/.env'], /^\/nowhere\/\.env cannot be read/],
  ['a word', ['https://user:p4ssword@example.com'], /^doctor takes options only/],
])('%s is a wrong usage, and the message says why', async (_what, args, reason) => {
  const { code, stderr, stdout } = await run(['doctor', ...args])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(reason)
  expect(stderr).not.toContain('p4ssword')
})
