// @vitest-environment happy-dom
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReactElement, ReactNode } from 'react'
import { act, StrictMode, useEffect, useState } from 'react'
import type { Root } from 'react-dom/client'
import { createRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPage } from '../browser/page.ts'
import { announcePage, forgetTokens } from '../browser/page-state.ts'
import { isIdpError } from '../errors/base.ts'
import type { AccessTokenOptions, AccessTokenResponse } from './index.ts'
import { getAccessToken, IdpProvider, useUser } from './index.ts'

type Responder = (request: IncomingMessage, response: ServerResponse) => void

const json =
  (status: number, body?: unknown): Responder =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
const fault = (status: number, code: string): Responder =>
  json(status, { error: { code, message: 'Says what is wrong.' } })

let server: Server
let origin: string
let sub: string | null
let expiresIn: number
/** Responses other than a token. */
let instead: Responder | undefined
let asked: string[]
let cookies: (string | undefined)[]
let issued: number
let root: Root | undefined
let container: HTMLElement

// happy-dom adds this to its window; its published type does not reach `Window`.
const browser = window as unknown as { happyDOM: { setURL(url: string): void } }

/** Tokens say whose they are and count, so that no test can take an old one for a new one. */
const token: Responder = (request, response) => {
  issued += 1
  const now = 1_900_000_000
  json(200, {
    token: `${sub}-${issued}`,
    expires_at: now + expiresIn,
    expires_in: expiresIn,
    scope: 'openid',
    token_type: 'Bearer',
  })(request, response)
}

beforeAll(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })
})

beforeEach(async () => {
  sub = 'alice'
  expiresIn = 3600
  instead = undefined
  asked = []
  cookies = []
  issued = 0
  forgetTokens()
  announcePage(createPage({}))
  server = createServer((request, response) => {
    const path = request.url ?? ''
    if (path.endsWith('/profile'))
      return sub === null ? json(401)(request, response) : json(200, { sub })(request, response)
    asked.push(path)
    cookies.push(request.headers.cookie)
    return (instead ?? token)(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
  browser.happyDOM.setURL(`${origin}/orders`)
  container = document.createElement('main')
  document.body.append(container)
})

afterEach(async () => {
  act(() => root?.unmount())
  root = undefined
  container.remove()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

function mount(element: ReactNode): void {
  root ??= createRoot(container)
  const target = root
  act(() => target.render(element))
}

/** Lets React and the network work until the condition holds; the test's own time limit ends a hang. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise<void>((done, fail) => {
      act(async () => void (await new Promise((wait) => setTimeout(wait, 2)))).then(done, fail)
    })
  }
}

function advanceClock(): (milliseconds: number) => void {
  const real = performance.now.bind(performance)
  let shift = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + shift)
  return (milliseconds) => {
    shift += milliseconds
  }
}

function Token({ options }: { options?: AccessTokenOptions }): ReactElement {
  const [shown, setShown] = useState('…')
  useEffect(() => {
    getAccessToken(options).then(
      (result) => setShown(typeof result === 'string' ? result : result.token),
      (error: unknown) => setShown(isIdpError(error) ? error.code : 'unknown'),
    )
  }, [options])
  return <p>{shown}</p>
}

function Name(): ReactElement {
  const { user, isLoading } = useUser()
  return <p>{isLoading ? 'loading' : (user?.sub ?? 'nobody')}</p>
}

const text = (): string => container.textContent ?? ''

/** Returns the rejection of a call. */
async function failure(call: Promise<unknown>): Promise<Record<string, unknown> & Error> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Error)) throw new Error('the call did not fail')
  return Object.assign(error)
}

describe('one request', () => {
  it('serves ten components that call at the same time, also in StrictMode', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `part-${index}`)
    mount(
      <StrictMode>
        <IdpProvider user={{ sub: 'alice' }}>
          {names.map((name) => (
            <Token key={name} />
          ))}
        </IdpProvider>
      </StrictMode>,
    )
    await until(() => text() === 'alice-1'.repeat(10))
    expect(asked).toEqual(['/auth/access-token'])
  })

  it('serves later callers from the cache', async () => {
    const first = await getAccessToken()
    expect(await getAccessToken()).toBe(first)
    expect(asked).toHaveLength(1)
  })

  it('is sent per audience, scope and mergeScopes', async () => {
    const api = { audience: 'https://api.example.test/', scope: 'read:things write:things' }
    const calls = [{}, { audience: api.audience }, api, { ...api, mergeScopes: false }, { scope: api.scope }]
    const tokens = await Promise.all([...calls, ...calls].map((options) => getAccessToken(options)))
    expect(new Set(tokens).size).toBe(5)
    expect(tokens.slice(0, 5)).toEqual(tokens.slice(5))
    const url = '/auth/access-token'
    const audience = 'audience=https%3A%2F%2Fapi.example.test%2F'
    const scope = 'scope=read%3Athings+write%3Athings'
    expect([...asked].sort()).toEqual(
      [
        url,
        `${url}?${audience}`,
        `${url}?${audience}&${scope}`,
        `${url}?${audience}&${scope}&mergeScopes=false`,
        `${url}?${scope}`,
      ].sort(),
    )
    await getAccessToken({ mergeScopes: true })
    expect(asked).toHaveLength(5)
  })

  it('is sent with the session cookie, to the same origin only', async () => {
    // biome-ignore lint/suspicious/noDocumentCookie: the way that every browser knows.
    document.cookie = '__session=sealed'
    const spy = vi.spyOn(globalThis, 'fetch')
    await getAccessToken()
    expect(cookies).toEqual(['__session=sealed'])
    expect(spy.mock.calls[0]?.[1]?.credentials ?? 'same-origin').toBe('same-origin')
  })
})

describe('a cached token', () => {
  it('is requested again 10 seconds before it expires, whatever the clock of this machine is', async () => {
    const advance = advanceClock()
    expiresIn = 60
    await getAccessToken()
    advance(49_000)
    expect(await getAccessToken()).toBe('alice-1')
    advance(1_500)
    expect(await getAccessToken()).toBe('alice-2')
    expect(asked).toHaveLength(2)
  })

  it('is requested again after a sleep of the computer, during which performance.now() stops', async () => {
    const awake = Date.now()
    await getAccessToken()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(awake + 3_591_000)
    expect(await getAccessToken()).toBe('alice-2')
    clock.mockReturnValue(awake)
    expect(await getAccessToken()).toBe('alice-2')
    const advance = advanceClock()
    advance(3_591_000)
    expect(await getAccessToken()).toBe('alice-3')
  })

  it('is not cached if it expires within 10 seconds, but concurrent callers share it', async () => {
    expiresIn = 10
    expect(await Promise.all([getAccessToken(), getAccessToken()])).toEqual(['alice-1', 'alice-1'])
    expect(await getAccessToken()).toBe('alice-2')
  })

  it('is returned with all properties of the response if requested', async () => {
    const response: AccessTokenResponse = await getAccessToken({ includeFullResponse: true })
    expect(response).toEqual({
      token: 'alice-1',
      expires_at: 1_900_003_600,
      expires_in: 3600,
      scope: 'openid',
      token_type: 'Bearer',
    })
    expect(await getAccessToken()).toBe('alice-1')
  })
})

describe('the route', () => {
  it('is that of the provider, in time for the first effect', async () => {
    mount(
      <IdpProvider user={null} basePath="/app" routes={{ accessToken: '/token' }}>
        <Token />
      </IdpProvider>,
    )
    await until(() => text() === 'alice-1')
    expect(asked).toEqual(['/app/token'])
  })

  it('is the option first, with the base path exactly once', async () => {
    announcePage(createPage({ basePath: '/app' }))
    await getAccessToken({ route: '/other?kind=a', audience: 'b' })
    await getAccessToken({ route: '/app/other' })
    expect(asked).toEqual(['/app/other?kind=a&audience=b', '/app/other'])
  })

  it('is NEXT_PUBLIC_ACCESS_TOKEN_ROUTE without an option', async () => {
    vi.stubEnv('NEXT_PUBLIC_ACCESS_TOKEN_ROUTE', '/from/variable')
    announcePage(createPage({}))
    await getAccessToken()
    expect(asked).toEqual(['/from/variable'])
  })
})

describe('the token of another user is never returned', () => {
  it('a new user of the page gets a new token', async () => {
    const page = (user: { sub: string } | null): ReactElement => (
      <IdpProvider user={user}>
        <Name />
      </IdpProvider>
    )
    mount(page({ sub: 'alice' }))
    expect(await getAccessToken()).toBe('alice-1')
    sub = 'bob'
    mount(page({ sub: 'bob' }))
    await until(() => text() === 'bob')
    expect(await getAccessToken()).toBe('bob-2')
  })

  it('a logout that useUser detects removes it', async () => {
    mount(<Name />)
    await until(() => text() === 'alice')
    expect(await getAccessToken()).toBe('alice-1')
    sub = null
    const advance = advanceClock()
    advance(5_001)
    act(() => void window.dispatchEvent(new Event('focus')))
    await until(() => text() === 'nobody')
    instead = fault(401, 'MISSING_SESSION')
    expect(await failure(getAccessToken())).toMatchObject({ code: 'MISSING_SESSION' })
  })

  it('the same user keeps the cached token', async () => {
    mount(
      <IdpProvider user={{ sub: 'alice' }}>
        <Name />
      </IdpProvider>,
    )
    await getAccessToken()
    mount(
      <IdpProvider user={{ sub: 'alice', name: 'Alice' }}>
        <Name />
      </IdpProvider>,
    )
    expect(await getAccessToken()).toBe('alice-1')
  })

  it('a response that was pending while the user changed is not returned', async () => {
    const waiting: (() => void)[] = []
    const page = (name: string): ReactElement => (
      <IdpProvider user={{ sub: name }}>
        <Name />
      </IdpProvider>
    )
    instead = (request, response) => waiting.push(() => token(request, response))
    mount(page('alice'))
    const early = getAccessToken()
    await until(() => waiting.length === 1)
    mount(page('bob'))
    await until(() => text() === 'bob')
    instead = undefined
    waiting[0]?.()
    sub = 'bob'
    expect(await early).toBe('bob-2')
    expect(await getAccessToken()).toBe('bob-2')
  })

  it.each(['focus', 'visibilitychange'])(
    'without useUser, %s requests a token older than 5 seconds again',
    async (type) => {
      const advance = advanceClock()
      const target = type === 'focus' ? window : document
      await getAccessToken()
      target.dispatchEvent(new Event(type))
      expect(await getAccessToken()).toBe('alice-1')
      advance(5_001)
      target.dispatchEvent(new Event(type))
      expect(await getAccessToken()).toBe('alice-2')
    },
  )

  it('a response that was pending during another user is returned, and not cached', async () => {
    const waiting: (() => void)[] = []
    const advance = advanceClock()
    instead = (request, response) => waiting.push(() => token(request, response))
    const early = getAccessToken()
    await until(() => waiting.length === 1)
    advance(5_001)
    window.dispatchEvent(new Event('focus'))
    instead = undefined
    waiting[0]?.()
    expect(await early).toBe('alice-1')
    sub = 'bob'
    expect(await getAccessToken()).toBe('bob-2')
  })

  it('a page from the back/forward cache drops its tokens immediately, a new page does not', async () => {
    await getAccessToken()
    window.dispatchEvent(new Event('pageshow'))
    expect(await getAccessToken()).toBe('alice-1')
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    expect(await getAccessToken()).toBe('alice-2')
  })
})

describe('failures', () => {
  it.each([
    [401, 'MISSING_SESSION'],
    [401, 'MISSING_REFRESH_TOKEN'],
    [401, 'FAILED_TO_REFRESH_TOKEN'],
    [503, 'FAILED_TO_REFRESH_TOKEN'],
    [500, 'INVALID_CONFIGURATION'],
  ] as const)('%i %s is an AccessTokenError with code and message of the route', async (status, code) => {
    instead = fault(status, code)
    const error = await failure(getAccessToken())
    expect(isIdpError(error, code)).toBe(true)
    expect(error).toMatchObject({ name: 'AccessTokenError', code, message: 'Says what is wrong.', status })
  })

  it.each([
    ['a page', 200, '<!doctype html><p>welcome</p>'],
    ['a page that is not found', 404, '<!doctype html><p>not here</p>'],
    ['nothing', 204, undefined],
    ['other JSON', 200, '{"access_token":"wrong"}'],
    ['a token without a lifetime', 200, '{"token":"secret"}'],
    ['null', 200, 'null'],
    ['an error of another shape', 403, '{"error":"access_denied","mfa_token":"secret"}'],
  ])('%s is an IdpError that names what to check', async (_title, status, body) => {
    instead = (_request, response) => {
      response.writeHead(status)
      response.end(body)
    }
    const error = await failure(getAccessToken())
    expect(isIdpError(error, 'INTERNAL_ERROR')).toBe(true)
    expect(error).toMatchObject({ name: 'IdpError', status })
    expect(error.message).toContain('<IdpProvider>')
    expect(error.message).not.toContain('secret')
  })

  it('an unreachable server is an IdpError with its cause', async () => {
    instead = (request) => request.socket.destroy()
    const error = await failure(getAccessToken())
    expect(isIdpError(error, 'REQUEST_FAILED')).toBe(true)
    expect(error.message).toBe('The access-token route cannot be reached.')
    expect(error.cause).toBeDefined()
    expect(error).not.toHaveProperty('status')
  })

  it('are shared by concurrent callers and requested again afterwards', async () => {
    instead = fault(503, 'FAILED_TO_REFRESH_TOKEN')
    const errors = await Promise.all([failure(getAccessToken()), failure(getAccessToken())])
    expect(errors[0]).toBe(errors[1])
    expect(asked).toHaveLength(1)
    instead = undefined
    expect(await getAccessToken()).toBe('alice-1')
    expect(asked).toHaveLength(2)
  })

  it('401 removes the tokens of all audiences', async () => {
    await getAccessToken({ audience: 'a' })
    instead = fault(401, 'MISSING_SESSION')
    await failure(getAccessToken({ audience: 'b' }))
    instead = undefined
    expect(await getAccessToken({ audience: 'a' })).toBe('alice-2')
  })

  it('503 removes no token', async () => {
    await getAccessToken({ audience: 'a' })
    instead = fault(503, 'FAILED_TO_REFRESH_TOKEN')
    await failure(getAccessToken({ audience: 'b' }))
    expect(await getAccessToken({ audience: 'a' })).toBe('alice-1')
  })

  it('an ended session makes useUser return no user, once', async () => {
    const seen: (string | null)[] = []
    function Watch(): ReactElement {
      const { user } = useUser()
      const name = user?.sub ?? null
      useEffect(() => {
        seen.push(name)
      }, [name])
      return <Name />
    }
    mount(
      <IdpProvider user={{ sub: 'alice' }}>
        <Watch />
      </IdpProvider>,
    )
    expect(text()).toBe('alice')
    sub = null
    instead = fault(401, 'MISSING_SESSION')
    const calls = ['a', 'b', 'c'].map((audience) => failure(getAccessToken({ audience })))
    await Promise.all(calls)
    await until(() => text() === 'nobody')
    expect(seen).toEqual(['alice', null])
  })

  it('a failed refresh keeps the user signed in, and is reported once to components that show the user', async () => {
    const seen: (string | undefined)[] = []
    function Watch(): ReactElement {
      const { error } = useUser()
      useEffect(() => void seen.push(error?.code), [error])
      return <p />
    }
    mount(
      <IdpProvider user={{ sub: 'alice' }}>
        <Watch />
        <Name />
      </IdpProvider>,
    )
    const fetched = vi.spyOn(globalThis, 'fetch')
    instead = fault(401, 'FAILED_TO_REFRESH_TOKEN')
    const together = Array.from({ length: 10 }, () => failure(getAccessToken()))
    await until(() => seen.length > 1)
    await Promise.all(together)
    instead = fault(401, 'MISSING_REFRESH_TOKEN')
    await failure(getAccessToken())
    expect(fetched).toHaveBeenCalledTimes(2)
    expect(text()).toBe('alice')
    expect(seen).toEqual([undefined, 'FAILED_TO_REFRESH_TOKEN'])
  })
})

describe('on a server', () => {
  it('getAccessToken throws an error that names the server API, without a request', async () => {
    vi.stubGlobal('window', undefined)
    const error = await failure(getAccessToken())
    expect(isIdpError(error, 'INTERNAL_ERROR')).toBe(true)
    expect(error.message).toContain('idp.getAccessToken()')
    vi.unstubAllGlobals()
    expect(asked).toEqual([])
  })

  it('rendering sends no request', () => {
    expect(renderToString(<Token />)).toBe('<p>…</p>')
    expect(asked).toEqual([])
  })
})
