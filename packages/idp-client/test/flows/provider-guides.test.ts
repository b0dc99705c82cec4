import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, SessionData } from '../../src/index.ts'
import { customFetch } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { listenerOf, startFront } from '../support/front.ts'

/* Code of the guides, taken from the pages and run. */
const fromRoot = (path: string): URL => new URL(`../../../../${path}`, import.meta.url)

/** Imports a snippet of a page, found by its first line `// file: <name>`. */
async function load(page: string, name: string): Promise<unknown> {
  const [, code] = readFileSync(fromRoot(`docs/${page}.md`), 'utf8').split(`\`\`\`ts\n// file: ${name}\n`)
  if (code === undefined) throw new Error(`${page} shows no ${name}`)
  const file = fromRoot(`.cache/provider-guides/${page}/${name}`)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, code.slice(0, code.indexOf('\n```')))
  return import(/* @vite-ignore */ file.pathname)
}

const guides = readdirSync(fromRoot('docs/providers')).filter((name) => !/^(README|interop)/.test(name))

/** The items of every guide, and the patterns that find them. */
const items: readonly (readonly [string, RegExp])[] = [
  [
    'whether it was tested',
    /^(Tested with |Based on .* documentation, linked below; (not tested\.|tried with ))/m,
  ],
  ['domain', /^\| `IDP_DOMAIN` \|/m],
  ['callback URL', /app\.example\.com\/auth\/callback/],
  ['logout URL', /`https:\/\/app\.example\.com`|Google has no logout endpoint/],
  ['back-channel URL or its absence', /auth\/backchannel-logout|[Bb]ack-channel\s+logout/],
  ['scope', /^## Scope/m],
  ['client authentication', /^## Client authentication$/m],
  ['registration of keys', /private_key_jwt|Private Key JWT|Certificate\s+credentials/i],
  ['roles and groups', /^## Roles and groups$/m],
  ['policy of refresh tokens', /^## (Refresh tokens|Scope and refresh tokens)$/m],
  ['what logging out does', /^## Logging out$/m],
]

describe('the guides to providers', () => {
  test('are exactly ten', () => {
    expect(guides.map((name) => name.replace('.md', ''))).toEqual([
      ...['amazon-cognito', 'auth0', 'authentik', 'google', 'keycloak', 'microsoft-entra-id', 'okta', 'ory'],
      ...['spring-authorization-server', 'zitadel'],
    ])
  })

  test.each(guides)('%s has every section', (name) => {
    const text = readFileSync(fromRoot(`docs/providers/${name}`), 'utf8')
    expect(items.filter(([, pattern]) => !pattern.test(text)).map(([item]) => item)).toEqual([])
  })
})

/** A JWT with these claims; nobody verifies it here. */
const tokenWith = (claims: object): string =>
  ['{"alg":"RS256"}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

let world: World | undefined
afterEach(async () => {
  await world?.provider.stop()
  world = undefined
})

test('[B12] the server requests the provider at a URL inside the container network', async () => {
  const { fetchInside } = (await load('guides/deploy/network', 'lib/provider-fetch.ts')) as {
    fetchInside: (publicUrl: string, innerUrl: string) => typeof fetch
  }
  world = await startWorld()
  const { provider } = world
  const arrived: string[] = []
  const inner = await startFront(
    listenerOf(async (request) => {
      const { headers, method, url } = request
      const { pathname, search } = new URL(url)
      arrived.push(`${method} ${pathname}`)
      headers.delete('host')
      const body = method === 'GET' ? null : await request.text()
      return fetch(provider.issuer + pathname + search, { method, headers, body })
    }),
  )
  try {
    const { browser, client } = world.another({ [customFetch]: fetchInside(provider.issuer, inner.url) })
    provider.clearRequests()
    const url = await world.begin(browser)
    expect(url.startsWith(`${provider.issuer}/`)).toBe(true)
    const callback = await world.authorize(url)
    const byBrowser = provider.requests().length - arrived.length
    expect((await browser.send(callback)).status).toBe(302)
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
    expect(provider.requests().length - arrived.length).toBe(byBrowser)
    expect(arrived).toEqual([
      'GET /.well-known/openid-configuration',
      'POST /oauth/token',
      'GET /.well-known/jwks.json',
    ])
  } finally {
    await inner.stop()
  }
})

test('[B12] the roles in the access token are copied to the session', async () => {
  const { withRealmRoles } = (await load('providers/keycloak', 'lib/roles.ts')) as {
    withRealmRoles: (session: SessionData) => SessionData
  }
  const accessToken = tokenWith({ realm_access: { roles: ['auditor'] } })
  const session: SessionData = {
    user: { sub: 'alice', iss: 'https://id.example.com' },
    tokenSet: { accessToken, expiresAt: 2_000_000_000 },
    internal: { sid: 'sid', createdAt: 0 },
  }
  expect(withRealmRoles(session)).toEqual({ ...session, user: { sub: 'alice', roles: ['auditor'] } })
  const without = { ...session, tokenSet: { ...session.tokenSet, accessToken: tokenWith({}) } }
  expect(withRealmRoles(without).user).toEqual({ sub: 'alice', roles: [] })
})

test('a logout endpoint on another host than the issuer gets its own parameter', async () => {
  const { logout } = (await load('providers/amazon-cognito', 'lib/logout.ts')) as { logout: IdpClientOptions }
  world = await startWorld(logout)
  const { browser } = world
  await world.login(browser)
  const response = await browser.send('/auth/logout')
  const { origin, pathname, searchParams } = new URL(response.headers.get('location') ?? '')
  expect(origin + pathname).toBe('https://example.auth.eu-central-1.amazoncognito.com/logout')
  expect(Object.fromEntries(searchParams)).toEqual({ client_id: world.provider.clientId, logout_uri: APP })
})

test('keys of one application are loaded by a discovery URL with its appid', async () => {
  const { fetchAppKeys } = (await load('providers/microsoft-entra-id', 'lib/app-keys.ts')) as {
    fetchAppKeys: (clientId: string) => typeof fetch
  }
  world = await startWorld()
  const { provider } = world
  const { browser } = world.another({ [customFetch]: fetchAppKeys(provider.clientId) })
  provider.clearRequests()
  const callback = await world.authorize(await world.begin(browser))
  expect((await browser.send(callback)).status).toBe(302)
  const loaded = provider.requests().filter(({ url }) => url.includes('/.well-known/'))
  expect(loaded.map(({ method, url }) => `${method} ${url}`)).toEqual([
    `GET /.well-known/openid-configuration?appid=${provider.clientId}`,
    'GET /.well-known/jwks.json',
  ])
})
