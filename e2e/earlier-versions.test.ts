import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres } from '../packages/idp-client/test/support/postgres-server.ts'
import type { AppProcess } from './support/earlier-versions/process.ts'
import { CURRENT, installVersion, startProcess } from './support/earlier-versions/process.ts'
import type { Outcome } from './support/soak/soak-user.ts'
import { isResponse, SoakUser } from './support/soak/soak-user.ts'

const AUDIENCE = 'https://orders.example.test/'
/** All processes are one application behind one address. */
const BASE_URL = 'http://127.0.0.1:3000'

interface Store {
  readonly env: Readonly<Record<string, string>>
  /** Returns the columns of the store. */
  layout(): Promise<unknown>
  empty(): Promise<void>
  stop(): Promise<void>
}

async function startPostgresStore(): Promise<Store> {
  const server = await startPostgres()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const tables = async (): Promise<string[]> => {
    const { rows } = await client.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public' order by 1",
    )
    return rows.map(({ name }) => name)
  }
  return {
    env: { POSTGRES_URL: server.url },
    async layout() {
      const columns = 'table_name, column_name, data_type'
      const { rows } = await client.query(
        `select ${columns} from information_schema.columns where table_schema = 'public' order by 1, 2`,
      )
      const counts = (await tables()).map((name) => client.query(`select count(*) from ${name}`))
      return [...rows, ...(await Promise.all(counts)).map((result) => result.rows)]
    },
    async empty() {
      await client.query(`truncate ${(await tables()).join(', ')}`)
    },
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

const VERSION = 'before-links'

describe.each([
  ['in cookies', undefined],
  ['on one PostgreSQL', startPostgresStore],
])('a process of the version before beside one of this version %s', (_place, start) => {
  let provider: DevProvider
  let store: Store | undefined
  let earlier: AppProcess
  let current: AppProcess

  beforeAll(async () => {
    provider = await startDevProvider({ host: '127.0.0.1', accessTokenTtl: 2 })
    provider.registerApp(BASE_URL)
    store = await start?.()
    const env = { ...provider.env, ...store?.env, AUDIENCE, APP_BASE_URL: BASE_URL } as Readonly<
      Record<string, string>
    >
    earlier = await startProcess(await installVersion(VERSION), env)
    current = await startProcess(await installVersion(CURRENT), env)
  })
  afterAll(async () => {
    await Promise.all([earlier?.stop(), current?.stop()])
    await Promise.all([store?.stop(), provider?.stop()])
  })

  const setLifetime = (accessTokenTtl: number): void =>
    provider.addApi({ audience: AUDIENCE, scopes: ['read:orders'], accessTokenTtl })

  /** A browser with one cookie jar that a load balancer sends to either process. */
  async function logIn(
    user: string,
    at: AppProcess,
  ): Promise<(path: string, to: AppProcess) => Promise<Outcome>> {
    const soakUser = new SoakUser(user, at.url, provider)
    const { location } = toResponse(await soakUser.send('/auth/login'))
    const back = await provider.login(location ?? '', { user })
    const callback = new URL(back.location ?? '')
    const { status } = toResponse(await soakUser.send(`${callback.pathname}${callback.search}`))
    expect(status).toBe(302)
    return (path, to) => soakUser.send(new URL(path, to.url).href)
  }

  function toResponse(outcome: Outcome) {
    if (!isResponse(outcome)) throw new Error(`no response: ${outcome}`)
    return outcome
  }

  test.each([
    ['the earlier', () => [earlier, current]],
    ['this', () => [current, earlier]],
  ] as const)('a session of %s version is read, refreshed and changed in turn', async (_name, pair) => {
    const [first, second] = pair() as [AppProcess, AppProcess]
    const send = await logIn('alice', first)
    for (const [at, to] of [second, first, second].entries()) {
      const { body } = toResponse(await send('/token', to))
      while (Date.now() / 1000 <= Number(body['expiresAt']))
        await new Promise((resolve) => setTimeout(resolve, 50))
      provider.clearRequests()
      expect(toResponse(await send('/token', to)).body['code']).toBeUndefined()
      expect(provider.count('token')).toBe(1)
      await send(`/note?name=${at}`, to)
      const { body: session } = toResponse(await send('/session', to === first ? second : first))
      expect(session).toMatchObject({ sub: 'dev|alice' })
      expect(session['notes']).toContain(`note:${at}`)
    }
  })

  test.each([
    ['the earlier', () => [earlier, current]],
    ['this', () => [current, earlier]],
  ] as const)('a logout at %s version ends the session at the other', async (_name, pair) => {
    const [first, second] = pair() as [AppProcess, AppProcess]
    const send = await logIn('alice', second)
    expect(toResponse(await send('/session', second)).body['sub']).toBe('dev|alice')
    await send('/auth/logout', first)
    expect(toResponse(await send('/session', second)).body['sub']).toBeNull()
  })

  if (!start) return

  test.each([
    ['the earlier', () => earlier],
    ['this', () => current],
  ])(
    '50 parallel calls with an expired session of %s version redeem one refresh token',
    async (_name, begin) => {
      const send = await logIn('alice', begin())
      const { body } = toResponse(await send('/token', begin()))
      while (Date.now() / 1000 <= Number(body['expiresAt']))
        await new Promise((resolve) => setTimeout(resolve, 50))
      // On a busy machine the last of the calls could find the token of the first ones expired.
      setLifetime(3600)
      provider.clearRequests()
      const calls = Array.from({ length: 50 }, (_, index) =>
        send('/token', index % 2 === 0 ? earlier : current),
      )
      const outcomes = (await Promise.all(calls)).map(toResponse)
      expect(outcomes.map(({ status, body: { code } }) => [status, code])).toEqual(
        Array(50).fill([200, undefined]),
      )
      const grants = provider.requests('token').map(({ body: { grant_type: type } }) => type)
      expect(grants.filter((type) => type === 'refresh_token')).toHaveLength(1)
      setLifetime(2)
      const later = toResponse(await send('/session', begin() === earlier ? current : earlier))
      expect(later.body['sub']).toBe('dev|alice')
    },
  )

  test('concurrent changes of both are all kept', async () => {
    const send = await logIn('bob', earlier)
    const names = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(2, '0'))
    await Promise.all(
      names.map((name, index) => send(`/note?name=${name}`, index % 2 === 0 ? earlier : current)),
    )
    for (const process of [earlier, current]) {
      expect(toResponse(await send('/session', process)).body['notes']).toEqual(
        names.map((name) => `note:${name}`),
      )
    }
  })

  test('both write the same tables', async () => {
    const writtenBy = async (process: AppProcess): Promise<unknown> => {
      await store?.empty()
      await logIn('alice', process)
      return store?.layout()
    }
    const expected = await writtenBy(earlier)
    expect(expected).not.toEqual([])
    expect(await writtenBy(current)).toEqual(expected)
  })
})
