import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
// Loaded here, so that a call in a test starts at once.
import '../../src/flows/revoke-refresh-token.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { holding } from '../support/holding.ts'
import { keeping } from '../support/mfa.ts'
import { Process } from '../support/processes.ts'
import { gate } from '../support/redemptions.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
afterEach(() => world.provider.faults.clear())

interface Made {
  readonly browser: Browser
  readonly client: IdpClient
}

async function signedIn(options: IdpClientOptions): Promise<Made> {
  const made = world.another(options)
  await world.login(made.browser)
  world.provider.clearRequests()
  return made
}

const revoke = (made: Made): Promise<boolean> =>
  keeping(made.browser, (request, headers) => made.client.revokeRefreshToken(request, headers))

const refresh = (made: Made): Promise<{ token: string }> =>
  keeping(made.browser, (request, headers) => made.client.getAccessToken({ refresh: true }, request, headers))

const refreshTokenOf = async ({ browser, client }: Made): Promise<string | undefined> =>
  (await client.getSession(browser.request('/')))?.tokenSet.refreshToken

const revoked = (): unknown[] => world.provider.requests('revocation').map(({ body }) => body['token'])

/** A fetch that tells when the first revocation is about to be sent, and holds it back. */
function beforeRevocation() {
  const [asked, sent] = [gate(), gate()]
  let isFirst = true
  const held: typeof fetch = async (input, init) => {
    if (isFirst && String(input).endsWith('/revoke')) {
      isFirst = false
      asked.open()
      await sent.opened
    }
    return fetch(input, init)
  }
  return { asked: asked.opened, fetch: held, send: sent.open }
}

describe.each<[string, () => IdpClientOptions]>([
  ['in cookies', () => ({})],
  [
    'in a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
])('revokeRefreshToken and other requests of the session, %s', (_where, options) => {
  test('waits for a running refresh, and revokes the token that it brings', async () => {
    const held = holding()
    const made = await signedIn({ ...options(), [customFetch]: held.fetch })
    const before = await refreshTokenOf(made)
    const refreshing = refresh(made)
    await held.responded
    const revoking = revoke(made)
    // It has found the session once another request has.
    expect(await refreshTokenOf(made)).toBe(before)
    held.release()
    expect(await revoking).toBe(true)
    await refreshing
    expect(revoked()).toEqual([expect.any(String)])
    expect(revoked()).not.toEqual([before])
    expect(await refreshTokenOf(made)).toBeUndefined()
  })

  test('a call that needs a token meanwhile waits, and sends no refresh token', async () => {
    const revocation = beforeRevocation()
    const made = await signedIn({ ...options(), [customFetch]: revocation.fetch })
    const revoking = revoke(made)
    await revocation.asked
    const refreshing = refresh(made).catch((error: unknown) => error)
    expect(await refreshTokenOf(made)).toEqual(expect.any(String))
    revocation.send()
    expect(await revoking).toBe(true)
    expect(await refreshing).toMatchObject({ name: 'AccessTokenError', code: 'MISSING_REFRESH_TOKEN' })
    expect(world.refreshes()).toEqual([])
    expect(await refreshTokenOf(made)).toBeUndefined()
  })

  test('the same for the token of a connection', async () => {
    const revocation = beforeRevocation()
    const made = await signedIn({ ...options(), [customFetch]: revocation.fetch })
    const revoking = revoke(made)
    await revocation.asked
    const asking = keeping(made.browser, (request, headers) =>
      made.client.getAccessTokenForConnection(request, headers, { connection: 'google-oauth2' }),
    ).catch((error: unknown) => error)
    expect(await refreshTokenOf(made)).toEqual(expect.any(String))
    revocation.send()
    expect(await revoking).toBe(true)
    expect(await asking).toMatchObject({
      name: 'AccessTokenForConnectionError',
      code: 'MISSING_REFRESH_TOKEN',
    })
    expect(world.provider.count('token')).toBe(0)
  })

  test('calls at the same time share one revocation', async () => {
    const made = await signedIn(options())
    expect(await Promise.all([revoke(made), revoke(made)])).toEqual([true, true])
    expect(revoked()).toHaveLength(1)
  })

  test('a call whose token has been removed while it waited: MISSING_REFRESH_TOKEN, nothing is sent', async () => {
    const revocation = beforeRevocation()
    const made = await signedIn({ ...options(), [customFetch]: revocation.fetch })
    const { browser, client } = made
    const late = browser.request('/')
    const revoking = revoke(made)
    await revocation.asked
    expect(await client.getSession(late)).not.toBeNull()
    revocation.send()
    await revoking
    await expect(client.revokeRefreshToken(late, new Headers())).rejects.toMatchObject({
      name: 'AccessTokenError',
      code: 'MISSING_REFRESH_TOKEN',
    })
    expect(revoked()).toHaveLength(1)
  })

  test('false without a revocation endpoint: the session keeps its token', async () => {
    const metadata = { revocation_endpoint: undefined }
    const hidden: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input).includes('.well-known')) return response
      return Response.json({ ...((await response.json()) as object), ...metadata })
    }
    const made = await signedIn({ ...options(), [customFetch]: hidden })
    const before = await refreshTokenOf(made)
    expect(await revoke(made)).toBe(false)
    expect(await refreshTokenOf(made)).toBe(before)
  })

  test('a provider that fails: FAILED_TO_REVOKE with the cause, the session keeps its token', async () => {
    const made = await signedIn(options())
    const before = await refreshTokenOf(made)
    world.provider.faults.set('revocation', { kind: 'respond', status: 503 })
    await expect(revoke(made)).rejects.toMatchObject({
      name: 'AccessTokenError',
      code: 'FAILED_TO_REVOKE',
      cause: { name: 'OAuthError' },
    })
    expect(await refreshTokenOf(made)).toBe(before)
    world.provider.faults.clear()
    expect(await revoke(made)).toBe(true)
  })

  test('a session that ends meanwhile stays ended: MISSING_SESSION', async () => {
    const revocation = beforeRevocation()
    const made = await signedIn({ ...options(), [customFetch]: revocation.fetch })
    const revoking = revoke(made).catch((error: unknown) => error)
    await revocation.asked
    await made.client.middleware(made.browser.request('/auth/logout'))
    revocation.send()
    expect(await revoking).toMatchObject({ name: 'AccessTokenError', code: 'MISSING_SESSION' })
    expect(await made.client.getSession(made.browser.request('/'))).toBeNull()
  })
})

test('FAILED_TO_REVOKE if another process has replaced the token meanwhile, since the store has no lock', async () => {
  const { lock: _none, ...sessionStore } = memoryStore({
    name: crypto.randomUUID(),
    clock: () => world.clock.now,
  })
  const revocation = beforeRevocation()
  const made = await signedIn({ sessionStore, [customFetch]: revocation.fetch })
  const other = { browser: made.browser, client: world.another({ sessionStore }).client }
  const revoking = revoke(made).catch((error: unknown) => error)
  await revocation.asked
  await new Process().run(() => refresh(other))
  revocation.send()
  expect(await revoking).toMatchObject({ name: 'AccessTokenError', code: 'FAILED_TO_REVOKE' })
  expect(await revoke(made)).toBe(true)
  expect(new Set(revoked()).size).toBe(2)
  expect(await refreshTokenOf(made)).toBeUndefined()
})

test('a store that fails while the call waits for its lock is SESSION_STORE_FAILED, and nothing is revoked', async () => {
  const store = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
  const lock = async (): Promise<never> => {
    throw new Error('the store is down')
  }
  const made = await signedIn({ sessionStore: { ...store, lock } })
  await expect(revoke(made)).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
  expect(revoked()).toEqual([])
})
