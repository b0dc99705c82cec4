import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { expect, test } from 'vitest'
import { redisStore } from '../../src/stores/redis.ts'

test('clients of redis and ioredis are taken as they are', () => {
  const url = 'redis://127.0.0.1:1'
  redisStore(createClient({ url }))
  redisStore(createClient({ url, RESP: 2 }))
  redisStore(createClientPool({ url }))
  redisStore(createCluster({ rootNodes: [{ url }] }))
  redisStore(new Redis(url, { lazyConnect: true }))
  redisStore(new Cluster([url], { lazyConnect: true }))
  const sentinel = createSentinel({ name: 'primary', sentinelRootNodes: [] })
  redisStore(sentinel)
  expect(Object.keys(redisStore((command) => sentinel.sendCommand(false, command)))).toContain('get')
})
