import { startDevProvider } from 'idp-dev-provider'
import { afterEach, expect, test, vi } from 'vitest'
import { findUser, startProvider, toAddress, withCleanProvider } from './provider.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('the provider listens at the address of IDP_DOMAIN', () => {
  expect(toAddress('http://localhost:4400')).toEqual({ host: 'localhost', path: '', port: 4400 })
  expect(toAddress('http://127.0.0.1:80/tenant/')).toEqual({ host: '127.0.0.1', path: '/tenant', port: 80 })
})

test.each([undefined, 'login.example.com', 'https://localhost:4400'])('IDP_DOMAIN cannot be %s', (issuer) => {
  expect(() => toAddress(issuer)).toThrow('IDP_DOMAIN')
})

test('a port that is in use, and a host that is not local, are reported with what to do', async () => {
  const other = await startDevProvider()
  try {
    vi.stubEnv('IDP_DOMAIN', other.issuer)
    await expect(startProvider({})).rejects.toThrow(`Port ${other.port} is in use`)
    await expect(startProvider({})).rejects.toThrow('workers: 1')
  } finally {
    await other.stop()
  }
  vi.stubEnv('IDP_DOMAIN', 'http://login.example.com')
  await expect(startProvider({})).rejects.toThrow('host must be a loopback name')
})

test('what a test has changed is undone after it', async () => {
  const provider = await startProvider({ port: 0, autoLogin: 'bob' })
  try {
    const now = provider.clock.now()
    await withCleanProvider(provider, async () => {
      provider.settings.autoLogin = false
      provider.clock.advance(86_400)
      provider.faults.set('discovery', { kind: 'respond', status: 503 })
      expect((await fetch(`${provider.issuer}/.well-known/openid-configuration`)).status).toBe(503)
    })
    expect(provider.settings.autoLogin).toBe('bob')
    expect(provider.clock.now()).toBeLessThan(now + 86_400)
    expect((await fetch(`${provider.issuer}/.well-known/openid-configuration`)).status).toBe(200)
    await withCleanProvider(provider, async () => expect(provider.requests()).toEqual([]))
  } finally {
    await provider.stop()
  }
})

test('a user by name has the claims that the running provider would send', async () => {
  const users = [{ name: 'carl', claims: { name: 'Carl' } }]
  const provider = await startDevProvider({ users })
  try {
    vi.stubEnv('IDP_DOMAIN', provider.issuer)
    for (const user of provider.users()) expect(await findUser(user.name, { users })).toEqual(user)
  } finally {
    await provider.stop()
  }
  await expect(findUser('zoe', { users })).rejects.toThrow('alice, bob, mallory, carl')
})
