import { storeContract } from 'idp-client/testing'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../examples/cluster/store.mjs'
import type { Cluster } from '../support/soak/cluster.ts'
import { refusedLogouts, startCluster } from '../support/soak/cluster.ts'
import { engineRows, openWithIoRedis } from '../support/soak/engines.ts'
import type { Engine } from '../support/soak/redis-engines.ts'
import type { SoakReport } from '../support/soak/soak.ts'
import { soak } from '../support/soak/soak.ts'

const seconds = Number(process.env['SOAK_SECONDS'] ?? '60')
const users = Number(process.env['SOAK_USERS'] ?? '50')

const log = (line: string): void => {
  process.stdout.write(`soak: ${line}\n`)
}

const results: [string, SoakReport][] = []

afterAll(() => {
  log('engine | updates | refreshes | lost updates | lost sessions | redeemed twice | resurrected | foreign')
  for (const [name, report] of results) {
    const { foreign, lostSessions, lostUpdates, refreshes, resurrected, reuse, updates } = report
    log([name, updates, refreshes, lostUpdates, lostSessions, reuse, resurrected, foreign].join(' | '))
  }
})

describe.each(await engineRows())('[Q5] $name', ({ env, isDurable, name, start }) => {
  let engine: Engine
  let provider: DevProvider
  let cluster: Cluster
  let settings: Record<string, string>

  beforeAll(async () => {
    engine = await start()
    settings = { ...engine.env, ...env }
    provider = await startDevProvider({ host: '127.0.0.1', accessTokenTtl: 4 })
  })
  afterAll(async () => {
    await cluster?.stop()
    await Promise.all([provider?.stop(), engine?.stop()])
  })

  test('meets the store contract', async () => {
    const opened = [await openStore(settings), openWithIoRedis(settings)].filter((one) => one !== null)
    for (const { close, store } of opened) {
      const cases = storeContract(store)
      const outcomes = await Promise.allSettled(cases.map(({ run }) => run()))
      await close()
      expect(
        outcomes.flatMap((outcome, index) =>
          outcome.status === 'rejected' ? [`${cases[index]?.title}: ${outcome.reason}`] : [],
        ),
      ).toEqual([])
      log(`${name}: ${cases.length} of ${cases.length} cases of the store contract`)
    }
  })

  test(`${users} users for ${seconds} s lose nothing that a durable store acknowledged, with a killed primary`, async () => {
    cluster = await startCluster(provider, {
      ...settings,
      AUDIENCE: 'https://orders.example.test/',
      HTTP_TIMEOUT: '15000',
      INACTIVITY: '120',
    })
    const report = await soak({
      provider,
      url: cluster.url,
      users,
      seconds,
      seed: 7,
      disturbance: { name: 'the failure of a primary', run: () => engine.failOver() },
      log,
    })
    const refused = refusedLogouts(cluster)
    results.push([name, report])
    log(`${name}: ${JSON.stringify({ ...report, refused })}`)
    expect(report).toMatchObject({ kills: 2, hung: 0, foreign: 0, untyped: 0 })
    if (isDurable) {
      expect(report).toMatchObject({ lostUpdates: 0, lostSessions: 0, reuse: 0 })
      expect(report.resurrected).toBeLessThanOrEqual(refused)
    }
    for (const count of [report.logins, report.logouts, report.updates, report.refreshes])
      expect(count).toBeGreaterThan(users / 2)
  })
})
