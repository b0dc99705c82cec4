import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RedisServer } from '../packages/idp-client/test/support/redis-server.ts'
import { startRedis } from '../packages/idp-client/test/support/redis-server.ts'
import type { Cluster } from './support/soak/cluster.ts'
import { refusedLogouts, startCluster } from './support/soak/cluster.ts'
import { soak } from './support/soak/soak.ts'
import { isResponse, SoakUser } from './support/soak/soak-user.ts'

const AUDIENCE = 'https://orders.example.test/'
const seconds = Number(process.env['SOAK_SECONDS'] ?? '10')
const users = Number(process.env['SOAK_USERS'] ?? '40')

// With many users the provider, which shares this process with them, may be slow; a lock lasts longer for it.
const timeout = users >= 100 ? '15000' : '5000'

let redis: RedisServer
let provider: DevProvider
let cluster: Cluster

beforeAll(async () => {
  redis = await startRedis({ persistent: true })
  provider = await startDevProvider({ host: '127.0.0.1', accessTokenTtl: 4 })
  cluster = await startCluster(provider, {
    REDIS_URL: redis.url,
    AUDIENCE,
    HTTP_TIMEOUT: timeout,
    INACTIVITY: '120',
  })
})
afterAll(async () => {
  await cluster?.kill()
  await Promise.all([provider?.stop(), redis?.stop()])
})

/** Waits for a moment that was told, not for a length of time that is hoped to suffice. */
async function until(epochSeconds: number): Promise<void> {
  while (Date.now() / 1000 < epochSeconds) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Sends 50 parallel calls with an expired session, which must cause one refresh. Returns the ids of the processes that responded. */
async function refreshInParallel(): Promise<ReadonlySet<number | undefined>> {
  const user = new SoakUser('alice', cluster.url, provider)
  await user.logIn()
  const first = await user.send('/token')
  if (!isResponse(first)) throw new Error('the cluster does not respond')
  await until(Number(first.body['expiresAt']) + 1)
  // On a busy machine the last of the calls could find the token of the first ones expired.
  const api = { audience: AUDIENCE, scopes: ['read:orders'] }
  provider.addApi({ ...api, accessTokenTtl: 3600 })
  provider.clearRequests()
  const responses = await Promise.all(Array.from({ length: 50 }, () => user.send('/token')))
  provider.addApi(api)
  const good = responses.filter(isResponse).filter(({ status }) => status === 200)
  expect(good).toHaveLength(50)
  expect(
    provider.requests('token').filter(({ body }) => body['grant_type'] === 'refresh_token'),
  ).toHaveLength(1)
  return new Set(good.map(({ pid }) => pid))
}

describe('four processes, one Redis', () => {
  test('50 parallel calls over several processes with an expired session cause one refresh', async () => {
    // The system may hand all connections to one process.
    while ((await refreshInParallel()).size === 1);
  })

  test('a logout in one process applies to all, and another device is ended from here', async () => {
    const [phone, desktop] = [
      new SoakUser('bob', cluster.url, provider),
      new SoakUser('bob', cluster.url, provider),
    ]
    await phone.logIn()
    await desktop.logIn()
    const devices = await phone.send('/devices')
    if (!isResponse(devices)) throw new Error('the cluster does not respond')
    const list = Object.values(devices.body) as { id: string; current: boolean }[]
    expect(list.map(({ current }) => current).sort()).toEqual([false, true])
    const other = list.find(({ current }) => !current)
    await phone.send(`/devices/${other?.id}`, { method: 'DELETE' })
    const statuses = await Promise.all(Array.from({ length: 8 }, () => desktop.send('/notes')))
    expect(statuses.map((response) => isResponse(response) && response.status)).toEqual(Array(8).fill(401))
    const captured = phone.browser.copy()
    await phone.send('/auth/logout')
    const after = await Promise.all(Array.from({ length: 8 }, () => phone.send('/notes', {}, captured)))
    expect(after.map((response) => isResponse(response) && response.status)).toEqual(Array(8).fill(401))
  })

  // Ctrl-C sends SIGINT to the workers, too.
  test.each(['SIGTERM', 'SIGINT'])(
    'a process that gets %s saves a refresh whose client has disconnected',
    async (signal) => {
      const settings = { REDIS_URL: redis.url, AUDIENCE, WORKERS: '1', HTTP_TIMEOUT: '3000' }
      const stopped = await startCluster(provider, settings)
      const user = new SoakUser('alice', stopped.url, provider)
      await user.logIn()
      const first = await user.send('/token')
      if (!isResponse(first) || first.pid === undefined) throw new Error('the cluster does not respond')
      await until(Number(first.body['expiresAt']) + 1)
      provider.clearRequests()
      // Later than `httpTimeout`: the process still waits for the response.
      provider.faults.set('token', { kind: 'delay', ms: 5000, commit: true }, { times: 1 })
      const client = new AbortController()
      const refresh = user.browser.send(`${stopped.url}/token`, { signal: client.signal })
      while (provider.count('token') === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      client.abort()
      await expect(refresh).rejects.toThrow()
      process.kill(first.pid, signal)
      await stopped.stop()

      const response = await new SoakUser('alice', cluster.url, provider).send('/token', {}, user.browser)
      expect(response).toMatchObject({ status: 200 })
    },
  )

  test(`${users} users for ${seconds} s, with killed processes and a restart of Redis, lose nothing`, {
    timeout: (seconds + 120) * 20 * 1000,
  }, async () => {
    const report = await soak({
      provider,
      url: cluster.url,
      users,
      seconds,
      seed: 7,
      disturbance: {
        name: 'a restart of Redis',
        run: async () => {
          await redis.crash()
          await redis.restart()
        },
      },
      log: (line) => process.stdout.write(`soak: ${line}\n`),
    })
    const refused = refusedLogouts(cluster)
    process.stdout.write(`soak: ${JSON.stringify({ ...report, refused }, null, 2)}\n`)
    expect(report).toMatchObject({
      kills: 2,
      hung: 0,
      reuse: 0,
      lostUpdates: 0,
      lostSessions: 0,
      foreign: 0,
      untyped: 0,
    })
    expect(report.resurrected).toBeLessThanOrEqual(refused)
    for (const count of [report.logins, report.logouts, report.updates, report.refreshes]) {
      expect(count).toBeGreaterThan(users / 2)
    }
  })
})
