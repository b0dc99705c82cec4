import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT_ID, json, LocalProvider, signingKey } from '../oidc/local-provider.ts'
import type { BundledProgram } from '../support/bundled-program.ts'
import { bundleProgram } from '../support/bundled-program.ts'

let program: BundledProgram
let provider: DevProvider

beforeAll(async () => {
  program = await bundleProgram('memory-process')
  provider = await startDevProvider({ host: '127.0.0.1', autoLogin: 'alice', idTokenSigningAlg: 'ES256' })
})
afterAll(async () => {
  await provider.stop()
  await program.remove()
})

/** Returns what a scenario of `memory-process.ts` leaves in memory, in a process of its own. */
async function leftBy(
  scenario: string,
  { clientId, clientSecret, issuer }: Pick<DevProvider, 'clientId' | 'clientSecret' | 'issuer'> = provider,
): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program.file, scenario], {
    env: {
      ...process.env,
      MEMORY_DOMAIN: issuer,
      MEMORY_CLIENT_ID: clientId,
      MEMORY_CLIENT_SECRET: clientSecret,
    },
  })
  return Number(stdout)
}

describe('[D2] at most 10 of 100 requests with a response stay reachable', () => {
  test.each([
    ['their refresh is written to the cookie', 'cookies'],
    ['their refresh is written to the store', 'store'],
    ['the responses to their refresh are still waited for', 'late'],
    ['provider documents that were loaded with a fetch function of one request are cached', 'fetch'],
  ])('while %s', async (_situation, scenario) => {
    expect(await leftBy(scenario)).toBeLessThanOrEqual(10)
  })
})

test('[D2] 5000 users who log in and refresh once need less than 14 MB', { timeout: 1_200_000 }, async () => {
  // The development provider would need longer for a login than the application.
  const quick = await new LocalProvider(await signingKey('key-1', 'ES256')).start()
  quick.responders.set('token', async (response, { form }) => {
    quick.requests.length = 0
    const nonce = form.get('code') ?? undefined
    const idToken = await quick.sign({ nonce })
    json(response, { ...(await quick.tokenResponse()), id_token: idToken, ...randomTokens() })
  })
  const { issuer } = quick
  const left = await leftBy('users', { clientId: CLIENT_ID, clientSecret: 'secret', issuer })
  await quick.stop()
  expect(left).toBeLessThan(14_000_000)
})

/** As long as those of the development provider. */
const randomTokens = () => ({
  access_token: randomBytes(32).toString('base64url'),
  refresh_token: randomBytes(32).toString('base64url'),
})
