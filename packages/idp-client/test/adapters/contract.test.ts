import type { RequestListener } from 'node:http'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  adapterContract,
  ContractViolation,
  frontChannelLogoutContract,
  lateWriteContract,
  proxyContract,
  unconfiguredContract,
} from '../../src/testing/index.ts'
import { startHost } from './hosts.ts'

/** Hosts that keep no rule: every case must notice it by itself. */
const brokenHosts: readonly (readonly [title: string, listener: RequestListener])[] = [
  ['rejects no request', (_request, response) => response.end('user=alice public')],
  ['has no path', (_request, response) => response.writeHead(404).end('{}')],
  ['shows what is missing', (_request, response) => response.writeHead(500).end('Set IDP_SECRET')],
  [
    'redirects everything to its login',
    (_request, response) => response.writeHead(302, { location: '/auth/login?returnTo=/' }).end(),
  ],
]

describe('the adapter contract', () => {
  let provider: DevProvider

  beforeAll(async () => {
    provider = await startDevProvider({ host: '127.0.0.1' })
  })

  afterAll(async () => {
    await provider.stop()
  })

  describe.each(brokenHosts)('detects a host that %s', (_title, listener) => {
    test.each([
      ...adapterContract,
      ...lateWriteContract,
      ...proxyContract,
      ...unconfiguredContract,
      ...frontChannelLogoutContract,
    ])('$title', async ({ run }) => {
      const { host, stop } = await startHost(() => listener, { title: '', basePath: '' }, provider, {})
      onTestFinished(stop)
      await expect(run(host)).rejects.toThrow(ContractViolation)
    })
  })
})
