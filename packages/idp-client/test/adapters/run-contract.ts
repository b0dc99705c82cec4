import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import type { ContractCase, ProxyLimits } from '../../src/testing/index.ts'
import {
  adapterContract,
  frontChannelLogoutContract,
  proxyContract,
  unconfiguredContract,
} from '../../src/testing/index.ts'
import type { MakeApplication, Place, RunningHost } from './hosts.ts'
import { configured, places, startHost } from './hosts.ts'

interface Further {
  readonly cases?: readonly ContractCase[]
  readonly proxyLimits?: ProxyLimits
  /** Where the application lives. Default: everywhere. */
  readonly at?: readonly Place[]
}

/** Runs the whole adapter contract, and further cases, for one kind of application, in the places where it may live. */
export function runContract(
  make: MakeApplication,
  { at = places, cases = [], proxyLimits = {} }: Further = {},
): void {
  let provider: DevProvider

  beforeAll(async () => {
    provider = await startDevProvider({ host: '127.0.0.1' })
  })

  afterAll(async () => {
    await provider.stop()
  })

  describe.each(at)('$title', (place) => {
    let running: RunningHost

    beforeAll(async () => {
      vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', place.basePath)
      running = await startHost(make, { ...place, proxyLimits }, provider, configured(provider))
      vi.unstubAllEnvs()
    })

    afterAll(async () => {
      await running.stop()
    })

    test.each([...adapterContract, ...proxyContract, ...cases])('$title', async ({ run }) => {
      await run(running.host)
    })
  })

  describe.each(at)('with a session store, $title', (place) => {
    let running: RunningHost

    beforeAll(async () => {
      vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', place.basePath)
      const sessionStore = memoryStore({ name: crypto.randomUUID() })
      const options = { ...configured(provider), sessionStore, frontChannelLogout: true }
      running = await startHost(make, place, provider, options)
      vi.unstubAllEnvs()
    })

    afterAll(async () => {
      await running.stop()
    })

    test.each(frontChannelLogoutContract)('$title', async ({ run }) => {
      await run(running.host)
    })
  })

  describe.each(at.slice(0, 1))('unconfigured', (place) => {
    let running: RunningHost

    beforeAll(async () => {
      // Otherwise responses name what is missing, for the developer.
      vi.stubEnv('NODE_ENV', 'production')
      running = await startHost(make, place, provider, {})
    })

    afterAll(async () => {
      vi.unstubAllEnvs()
      await running.stop()
    })

    test.each(unconfiguredContract)('$title', async ({ run }) => {
      await run(running.host)
    })
  })
}
