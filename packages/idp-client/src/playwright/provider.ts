import type { DevProvider, DevProviderOptions, User as ProviderUser } from 'idp-dev-provider'
import { readEnv } from '../config/env.ts'
import { parseUrl } from '../lib/url.ts'
import { kitError } from './kit-error.ts'

async function loadDevProvider(): Promise<typeof import('idp-dev-provider')> {
  try {
    return await import('idp-dev-provider')
  } catch (cause) {
    throw kitError('idp-dev-provider cannot be loaded: npm install --save-dev idp-dev-provider', { cause })
  }
}

type Address = Pick<DevProviderOptions, 'host' | 'path' | 'port'>

/** Returns where the application expects the provider. */
export function toAddress(issuer: string | undefined): Address {
  if (issuer === undefined)
    throw kitError(
      'IDP_DOMAIN is not set, so that the provider cannot listen where the application expects it. Set the variable for Playwright and the application, for example to http://localhost:4400.',
    )
  const url = parseUrl(issuer)
  if (url?.protocol !== 'http:')
    throw kitError(
      'IDP_DOMAIN must be a URL with http, such as http://localhost:4400. With https the application would need a certificate authority that exists only when the provider runs.',
    )
  const { hostname, pathname, port } = url
  return { host: hostname, path: pathname.replace(/\/$/, ''), port: Number(port || 80) }
}

/** Starts the provider at `IDP_DOMAIN`, unless the options name another address. */
export async function startProvider(options: DevProviderOptions): Promise<DevProvider> {
  const { DevProviderError, startDevProvider } = await loadDevProvider()
  const address = options.port === undefined ? toAddress(readEnv().IDP_DOMAIN) : {}
  try {
    return await startDevProvider({ ...address, ...options })
  } catch (cause) {
    if (!(cause instanceof DevProviderError)) throw cause
    throw kitError(
      `the provider does not start: ${cause.message} One application has one provider: stop what else runs at IDP_DOMAIN, and run tests with the fixture provider in one worker (workers: 1).`,
      { cause },
    )
  }
}

/** Undoes what a test has changed, so that the next one finds the provider as it was started. */
export async function withCleanProvider(
  provider: DevProvider,
  use: (provider: DevProvider) => Promise<void>,
): Promise<void> {
  const settings = { ...provider.settings }
  provider.clearRequests()
  await use(provider)
  Object.assign(provider.settings, settings)
  provider.faults.clear()
  provider.clock.reset()
}

/** Returns a user of the provider, which need not run. */
export async function findUser(name: string, { users }: DevProviderOptions): Promise<ProviderUser> {
  const { listUsers } = await loadDevProvider()
  const known = listUsers(readEnv().IDP_DOMAIN ?? '', users)
  const found = known.find((user) => user.name === name)
  if (found) return found
  const names = known.map((user) => user.name).join(', ')
  throw kitError(
    `the provider has no user of the name that the option user has; there are ${names}. Add one by the option providerOptions.users, or pass claims: { sub: … }.`,
  )
}
