import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { isIdpError } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { startMfaWorld } from '../support/mfa.ts'
import type { Page } from '../support/page.ts'
import { openPage } from '../support/page.ts'
import { PATIENT } from '../support/timeouts.ts'

type Entry = typeof import('../../src/browser/index.ts')

/** Below `node_modules`, so that the modules are loaded by Node itself. */
const cache = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url))

let world: MfaWorld
let browser: Browser
let page: Page
let folder: string
/** The part that loads later, and where it is while it cannot be had. */
let part: string
let away: string
let entry: Entry

beforeAll(async () => {
  world = await startMfaWorld()
})
afterAll(() => world.provider.stop())

beforeEach(async () => {
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'browser-parts-'))
  await build({
    entryPoints: [fileURLToPath(new URL('../../src/browser/index.ts', import.meta.url))],
    bundle: true,
    splitting: true,
    format: 'esm',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  })
  const files = await readdir(folder)
  part = join(folder, files.find((file) => file.startsWith('requests-')) ?? 'none')
  away = join(folder, 'away')
  await rename(part, away)
  browser = await world.signedIn('alice', world.newBrowser())
  page = openPage(browser)
  entry = await import(pathToFileURL(join(folder, 'index.mjs')).href)
})
afterEach(async () => {
  page.fire('pagehide')
  vi.unstubAllGlobals()
  await rm(folder, { recursive: true })
})

const arrive = (): Promise<void> => rename(away, part)

async function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('a chunk that cannot be loaded', () => {
  test('is a failed request, and is loaded again by the next call', async () => {
    const calls = [
      () => entry.getAccessToken(),
      () => entry.fetchUser(),
      () => entry.mfa.getAuthenticators({ mfaToken: 'a' }),
      () => entry.mfa.challengeWithPopup({ audience: 'a' }),
    ]
    for (const call of calls) {
      const error = await failure(call())
      expect(isIdpError(error, 'REQUEST_FAILED')).toBe(true)
      expect(error).toMatchObject({ name: 'IdpError', cause: expect.any(Error) })
    }
    expect(page.popups.map(({ closed }) => closed)).toEqual([true])
    await arrive()
    expect(await entry.getAccessToken()).toEqual(expect.any(String))
    expect((await entry.fetchUser())?.sub).toBe('dev|alice')
    expect(await failure(entry.mfa.getAuthenticators({ mfaToken: 'a' }))).toMatchObject({
      code: 'MFA_TOKEN_INVALID',
    })
  })

  test.each(['focus', 'online'])(
    'is loaded again on %s for every caller that waits for the user',
    async (type) => {
      const { current, subscribe } = entry.userStore()
      const end = subscribe(() => undefined)
      await vi.waitFor(() => expect(current().error?.code).toBe('REQUEST_FAILED'), PATIENT)
      expect(current()).toMatchObject({ user: null, isLoading: false })
      await arrive()
      page.fire(type)
      await vi.waitFor(() => expect(current().user?.sub).toBe('dev|alice'), PATIENT)
      expect(current().error).toBeNull()
      end()
    },
  )

  test('does not fail a page that already has its user', async () => {
    entry.configure({ user: { sub: 'dev|alice' } })
    const { current, subscribe, refresh } = entry.userStore()
    const told = vi.fn()
    const end = subscribe(told)
    await failure(entry.getAccessToken())
    expect(told).not.toHaveBeenCalled()
    expect(current()).toEqual({ user: { sub: 'dev|alice' }, isLoading: false, error: null })
    await refresh()
    expect(current()).toMatchObject({ user: { sub: 'dev|alice' }, error: { code: 'REQUEST_FAILED' } })
    end()
  })
})

describe('a page that is closed while the chunk loads', () => {
  /** Rejections that nobody handled until the part was there, or was known to be missing. */
  async function unhandled(work: () => unknown): Promise<unknown[]> {
    const seen: unknown[] = []
    const listen = (error: unknown): void => void seen.push(error)
    process.on('unhandledRejection', listen)
    work()
    vi.unstubAllGlobals()
    await failure(entry.getAccessToken())
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', listen)
    return seen
  }

  const watch = (): unknown => entry.userStore().subscribe(() => undefined)

  test('[G4] causes no unhandled rejection, for example after a test environment was torn down', async () => {
    await arrive()
    expect(await unhandled(watch)).toEqual([])
  })

  test('[G4] causes no unhandled rejection if the chunk cannot be loaded either', async () => {
    expect(await unhandled(watch)).toEqual([])
  })

  test('[G4] resolves pending calls for the user', async () => {
    await arrive()
    let user: unknown = 'pending'
    expect(
      await unhandled(async () => {
        user = await failure(entry.fetchUser())
      }),
    ).toEqual([])
    expect(user).not.toBe('pending')
  })
})
