import { readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { readEnv, variableNames } from './env.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

test('reads every known variable, trimmed', () => {
  for (const name of variableNames) vi.stubEnv(name, ` value of ${name}\n`)
  const env = readEnv('next')
  expect(env).toEqual(Object.fromEntries(variableNames.map((name) => [name, `value of ${name}`])))
})

test('an empty variable is absent', () => {
  vi.stubEnv('IDP_DOMAIN', '')
  vi.stubEnv('IDP_CLIENT_ID', '   ')
  expect(readEnv()).not.toHaveProperty('IDP_DOMAIN')
  expect(readEnv()).not.toHaveProperty('IDP_CLIENT_ID')
})

test('variables of a host are read only for that host', () => {
  vi.stubEnv('NEXT_PUBLIC_LOGIN_ROUTE', '/next')
  vi.stubEnv('FRAMEWORK_PUBLIC_LOGIN_ROUTE', '/framework')
  expect(readEnv()).toMatchObject({ FRAMEWORK_PUBLIC_LOGIN_ROUTE: '/framework' })
  expect(readEnv()).not.toHaveProperty('NEXT_PUBLIC_LOGIN_ROUTE')
  expect(readEnv('next')).toMatchObject({ NEXT_PUBLIC_LOGIN_ROUTE: '/next' })
})

test('reads at the call, not at import', () => {
  vi.stubEnv('IDP_DOMAIN', 'one.example.com')
  expect(readEnv().IDP_DOMAIN).toBe('one.example.com')
  vi.stubEnv('IDP_DOMAIN', 'two.example.com')
  expect(readEnv().IDP_DOMAIN).toBe('two.example.com')
})

test('works if `process` is absent or reading it throws', () => {
  const original = globalThis.process
  try {
    vi.stubGlobal('process', undefined)
    expect(readEnv()).toEqual({})
    const forbidden = new Proxy(
      {},
      {
        get() {
          throw new Error('permission needed')
        },
      },
    )
    vi.stubGlobal('process', { env: forbidden })
    expect(readEnv()).toEqual({})
  } finally {
    vi.stubGlobal('process', original)
  }
})

test('contains every name but NODE_ENV literally, because bundlers replace nothing else', () => {
  const source = readFileSync(new URL('./env.ts', import.meta.url), 'utf8').replace(/\s+/g, ' ')
  for (const name of variableNames.filter((each) => each !== 'NODE_ENV'))
    expect(source).toContain(`=> process.env.${name},`)
})

test('[S148] logout, callback, connect-account and back-channel logout have no path variable', () => {
  expect(variableNames.filter((name) => /LOGOUT|CALLBACK|CONNECT/.test(name))).toEqual([])
})

test('[S050] the transaction cookie has no variable', () => {
  expect(variableNames.filter((name) => /TRANSACTION|TXN/.test(name))).toEqual([])
})

test('every variable of the library has one of the documented prefixes', () => {
  const foreign = variableNames.filter((name) => !/^(?:IDP_|FRAMEWORK_PUBLIC_|NEXT_PUBLIC_)/.test(name))
  // These two are names of the environment, not ours.
  expect(foreign).toEqual(['NODE_ENV', 'APP_BASE_URL'])
})
