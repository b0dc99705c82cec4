import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { parseCookies } from '../../src/http/cookie-text.ts'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { BrowserJar } from '../support/browser-jar.ts'
import type { Front } from '../support/front.ts'
import { listenerOf, startFront } from '../support/front.ts'
import type { Nginx } from '../support/nginx.ts'
import { startNginx } from '../support/nginx.ts'
import { Process } from '../support/processes.ts'

const TTL = 600
/** All cookies of one client: 1500 bytes above `session.cookie.maxBytes`. */
const ALL_COOKIES = 7900
const OTHERS = `other=${'o'.repeat(244)}`
const AUDIENCES = [1, 2, 3].map((at) => `https://api-${at}.example.test/`)
const REJECTED = [400, 414, 431, 502]

/** The directives of the page about nginx for the head of a response; none for that of a request. */
const DOCUMENTED = ['proxy_buffer_size 16k;', 'proxy_buffers 8 16k;', 'proxy_busy_buffers_size 32k;']

/** Identifiers of directory groups. */
function groups(count: number): string[] {
  return Array.from({ length: count }, () => crypto.randomUUID())
}

/** A browser behind nginx; other applications of the host have set cookies, too. */
class NginxBrowser {
  readonly jar = new BrowserJar()
  readonly responses: { readonly what: string; readonly status: number }[] = []
  readonly #base: string

  constructor(base: string) {
    this.#base = base
  }

  async send(path: string): Promise<Response> {
    const url = new URL(path, this.#base)
    const own = this.jar.header(url)
    expect(own.length, `cookies of ${url.pathname}`).toBeLessThanOrEqual(ALL_COOKIES)
    const cookie = own === '' ? OTHERS : `${own}; ${OTHERS}`
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.jar.take(line, url)
    await response.arrayBuffer()
    this.responses.push({ what: path.slice(0, 60), status: response.status })
    return response
  }

  /** The `Cookie` header of the next request. */
  get cookies(): Map<string, string | readonly string[]> {
    return parseCookies(this.jar.header(new URL(this.#base)))
  }

  get rejected() {
    return this.responses.filter(({ status }) => REJECTED.includes(status))
  }
}

let world: World | undefined
let front: Front | undefined
let nginx: Nginx | undefined
afterEach(async () => {
  await Promise.all([world?.provider.stop(), front?.stop(), nginx?.stop()])
  world = front = nginx = undefined
})

/** An application behind nginx with these directives. */
async function behindNginx(directives: readonly string[], options: IdpClientOptions = {}) {
  let application: IdpClient | undefined
  front = await startFront(
    listenerOf(async (request) => {
      if (!application) return new Response(null, { status: 503 })
      const { pathname, searchParams } = new URL(request.url)
      if (pathname !== '/connection') return application.middleware(request)
      const headers = new Headers()
      const connection = searchParams.get('name') ?? ''
      await application.getAccessTokenForConnection(request, headers, { connection })
      return new Response(null, { headers })
    }),
  )
  nginx = await startNginx(front.url, directives)
  const apis = AUDIENCES.map((audience) => ({ audience, scopes: ['read:things'] }))
  const made = await startWorld({ appBaseUrl: nginx.url, ...options }, { accessTokenTtl: TTL, apis })
  world = made
  application = made.client
  const nginxBrowser = new NginxBrowser(nginx.url)
  return {
    ...made,
    nginxBrowser,
    /** Sets the groups of the ID tokens that the provider issues from now on. */
    setGroups(count: number) {
      made.provider.tamperIdToken((claims) => {
        claims['groups'] = groups(count)
      })
    },
    async begin(query = ''): Promise<string | null> {
      return (await nginxBrowser.send(`/auth/login${query}`)).headers.get('location')
    },
    async finish(location: string | null, user = 'alice'): Promise<Response> {
      if (!location) throw new Error('no login has begun')
      return nginxBrowser.send(await made.authorize(location, { user }))
    },
  }
}

test('the directives are those of the page about nginx', async () => {
  const page = await readFile(new URL('../../../../docs/guides/deploy/nginx.md', import.meta.url), 'utf8')
  for (const directive of DOCUMENTED) expect(page).toContain(directive)
})

describe('[L1] behind nginx with proxy_buffer_size 16k and its defaults for requests', () => {
  test.each([20, 60, 90, 120, 200, 500, 2000])(
    'no request is rejected while the ID token grows to %d groups',
    async (most) => {
      const app = await behindNginx(DOCUMENTED)
      const { clock, nginxBrowser } = app
      await app.finish(await app.begin())
      const steps = [Math.ceil(most / 3), most]
      for (const count of steps) {
        app.setGroups(count)
        clock.now += TTL + 1
        expect((await nginxBrowser.send('/auth/access-token')).status, `${count} groups`).toBe(200)
        await nginxBrowser.send('/page')
        expect((await nginxBrowser.send('/auth/access-token')).status).toBe(200)
        for (const audience of AUDIENCES)
          expect(
            (await nginxBrowser.send(`/auth/access-token?audience=${encodeURIComponent(audience)}`)).status,
          ).toBe(200)
        for (const name of ['google-oauth2', 'github'])
          expect((await nginxBrowser.send(`/connection?name=${name}`)).status).toBe(200)
        // Logins that are never completed, with long paths and scopes.
        for (let abandoned = 0; abandoned < 6; abandoned++) {
          const path = `/${'p'.repeat(abandoned * 300)}`
          expect(await app.begin(`?returnTo=${path}&scope=${'s'.repeat(abandoned * 100 + 1)}`)).not.toBeNull()
        }
        expect((await nginxBrowser.send('/auth/profile')).status).toBe(200)
        clock.now += TTL + 1
        expect((await nginxBrowser.send('/auth/access-token')).status).toBe(200)
        // A step-up on a long path, at a provider that sends fewer groups: it replaces the session.
        app.setGroups(10)
        const completed = await app.finish(await app.begin(`?acr_values=gold&returnTo=/${'q'.repeat(2000)}`))
        expect(completed.status).toBe(302)
        expect([...nginxBrowser.cookies.keys()]).toContain('__session__ended')
      }
      app.setGroups(most)
      clock.now += TTL + 1
      expect((await nginxBrowser.send('/auth/access-token')).status).toBe(200)
      expect((await nginxBrowser.send('/auth/logout')).status).toBe(302)
      expect((await nginxBrowser.send('/auth/profile')).status).toBe(401)
      expect(nginxBrowser.rejected).toEqual([])
      expect(nginxBrowser.jar.refused).toEqual([])
    },
  )
})

describe('[L7] behind nginx without any setting', () => {
  const notices = () =>
    (world?.events ?? []).flatMap((event) => (event.code === 'NOTICE' ? event.message : []))
  const setCookieBytes = (response: Response): number =>
    response.headers.getSetCookie().reduce((sum, line) => sum + line.length, 0)

  test('logins pass below 3500 bytes of cookies, and above that the log names the directive', async () => {
    const app = await behindNginx([])
    const statuses = new Set<number>()
    for (let count = 0; count <= 100; count += 5) {
      await new Process().run(async () => {
        app.nginxBrowser.jar.clear()
        app.events.length = 0
        app.setGroups(count)
        const response = await app.finish(await app.begin())
        statuses.add(response.status)
        if (response.status === 502)
          expect(notices(), `${count} groups`).toContainEqual(expect.stringContaining('proxy_buffer_size'))
        else expect(response.status).toBe(302)
        if (notices().length === 0) expect(setCookieBytes(response)).toBeLessThanOrEqual(3500)
      })
    }
    expect([...statuses].sort()).toEqual([302, 502])
  })

  test('refreshes and logouts pass below 3500 bytes, and above that the log names the directives', async () => {
    const app = await behindNginx([])
    const seen = new Set<string>()
    for (let count = 0; count <= 100; count += 10) {
      await new Process().run(async () => {
        app.nginxBrowser.jar.clear()
        app.setGroups(0)
        await app.finish(await app.begin())
        app.setGroups(count)
        app.clock.now += TTL + 1
        app.events.length = 0
        const refresh = await app.nginxBrowser.send('/auth/access-token')
        seen.add(`refresh ${refresh.status}`)
        expect(refresh.status === 502 ? notices().join() : 'proxy_buffer_size').toContain('proxy_buffer_size')
        app.events.length = 0
        const logout = await app.nginxBrowser.send('/auth/logout')
        seen.add(`logout ${logout.status}`)
        const isNamed = notices().some((text) => text.includes('includeIdTokenHintInOIDCLogoutUrl'))
        expect(isNamed || logout.status === 302, `${count} groups`).toBe(true)
      })
    }
    expect([...seen].sort()).toEqual(['logout 302', 'logout 502', 'refresh 200', 'refresh 502'])
  })

  test('without the ID token in its address every logout passes', async () => {
    const app = await behindNginx([], { includeIdTokenHintInOIDCLogoutUrl: false })
    for (const count of [0, 50]) {
      app.setGroups(count)
      await app.finish(await app.begin())
      expect((await app.nginxBrowser.send('/auth/logout')).status).toBe(302)
    }
  })
})
