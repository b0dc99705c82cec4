// @vitest-environment happy-dom
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ReactElement, ReactNode } from 'react'
import { act, StrictMode } from 'react'
import type { Root } from 'react-dom/client'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { PATIENT } from '../../test/support/timeouts.ts'
import type { IdpProviderProps, User, UserResult } from './index.ts'
import { IdpProvider, useUser, withPageAuthRequired } from './index.ts'

type Responder = (request: IncomingMessage, response: ServerResponse) => void

const json =
  (status: number, body?: unknown): Responder =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
const signedIn = (sub: string): Responder => json(200, { sub })

let server: Server
let respond: Responder
let asked: string[]
let root: Root | undefined
let container: HTMLElement
let seen: UserResult[]

// happy-dom adds this to its window; its published type does not reach `Window`.
const browser = window as unknown as { happyDOM: { setURL(url: string): void } }

beforeAll(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })
})

beforeEach(async () => {
  asked = []
  seen = []
  respond = signedIn('alice')
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    respond(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  browser.happyDOM.setURL(`http://127.0.0.1:${port}/orders?page=2#last`)
  container = document.createElement('main')
  document.body.append(container)
})

afterEach(async () => {
  act(() => root?.unmount())
  root = undefined
  container.remove()
  vi.restoreAllMocks()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

function mount(element: ReactNode): void {
  root ??= createRoot(container)
  const target = root
  act(() => target.render(element))
}

/** `act` for asynchronous work, as a real promise. */
function acting(work: () => Promise<unknown>): Promise<void> {
  return new Promise((done, fail) => {
    act(async () => void (await work())).then(done, fail)
  })
}

/** Lets React and the network work until the condition holds; the test's own time limit ends a hang. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await acting(() => new Promise((done) => setTimeout(done, 2)))
}

/** Long enough for a request to loopback to be seen, for tests that expect none. */
async function settle(): Promise<void> {
  await acting(() => new Promise((done) => setTimeout(done, 60)))
}

function Status({ route }: { route?: string }): ReactElement {
  const result = useUser(route === undefined ? {} : { route })
  seen.push(result)
  const { user, isLoading, error } = result
  return (
    <p>
      {isLoading ? 'loading' : (user?.sub ?? 'nobody')}
      {error ? ` (${error.message})` : ''}
    </p>
  )
}

const app = (props: IdpProviderProps = {}, page = <Status />): ReactElement => (
  <IdpProvider {...props}>{page}</IdpProvider>
)

const text = (): string => container.textContent ?? ''

function last(): UserResult {
  const result = seen.at(-1)
  if (!result) throw new Error('no component has rendered')
  return result
}

function advanceClock(): (milliseconds: number) => void {
  const real = performance.now.bind(performance)
  let shift = 0
  vi.spyOn(performance, 'now').mockImplementation(() => real() + shift)
  return (milliseconds) => {
    shift += milliseconds
  }
}

describe('useUser', () => {
  it('loads the user from the profile route without IdpProvider', async () => {
    mount(<Status />)
    expect(text()).toBe('loading')
    await until(() => text() === 'alice')
    expect(asked).toEqual(['/auth/profile'])
    expect(last()).toMatchObject({ user: { sub: 'alice' }, isLoading: false, error: null })
  })

  it('sends one request for ten components, also in StrictMode', async () => {
    mount(
      <StrictMode>
        <IdpProvider>
          {Array.from({ length: 10 }, (_, index) => `part-${index}`).map((key) => (
            <Status key={key} />
          ))}
        </IdpProvider>
      </StrictMode>,
    )
    await until(() => text() === 'alice'.repeat(10))
    expect(asked).toEqual(['/auth/profile'])
  })

  it('sends no further request for a component that is mounted later', async () => {
    mount(app())
    await until(() => text() === 'alice')
    mount(
      <IdpProvider>
        <Status />
        <Status />
      </IdpProvider>,
    )
    expect(text()).toBe('alicealice')
    await settle()
    expect(asked).toHaveLength(1)
  })

  it.each([204, 401])('%i means that no user is signed in', async (status) => {
    respond = json(status)
    mount(app())
    await until(() => text() === 'nobody')
    expect(last()).toMatchObject({ user: null, isLoading: false, error: null })
  })

  it('returns an error after a failure and recovers with the next response', async () => {
    respond = json(500, { sub: 'not a user' })
    mount(app())
    await until(() => text().startsWith('nobody ('))
    expect(last().error).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 })
    respond = signedIn('alice')
    await acting(() => last().invalidate())
    expect(last()).toMatchObject({ user: { sub: 'alice' }, error: null })
  })

  it('keeps the last user after a failure', async () => {
    mount(app())
    await until(() => text() === 'alice')
    respond = json(503)
    await acting(() => last().invalidate())
    expect(last()).toMatchObject({ user: { sub: 'alice' }, isLoading: false })
    expect(last().error?.status).toBe(503)
    respond = json(401)
    await acting(() => last().invalidate())
    expect(last()).toMatchObject({ user: null, error: null })
  })

  it('returns an error if the route is a page of the application or there is no response', async () => {
    respond = (_request, response) => response.end('<!doctype html><p>welcome</p>')
    mount(app())
    await until(() => text() !== 'loading')
    expect(last().error?.message).toContain('Invalid response (200) of the profile route')
    respond = (request) => request.socket.destroy()
    await acting(() => last().invalidate())
    expect(last().error?.message).toBe('The profile route cannot be reached.')
    expect(last().error?.cause).toBeDefined()
  })

  it('requests again on invalidate() while an older request is pending, once for all callers', async () => {
    let release = (): void => undefined
    respond = (_request, response) => {
      release = () => signedIn('before')(_request, response)
    }
    mount(app())
    await until(() => asked.length === 1)
    respond = signedIn('after')
    const { invalidate } = last()
    const all = Promise.all([invalidate(), invalidate(), invalidate()])
    release()
    await acting(() => all)
    expect(text()).toBe('after')
    expect(asked).toHaveLength(2)
  })

  it('does not render again if the response is the same', async () => {
    mount(app())
    await until(() => text() === 'alice')
    const renders = seen.length
    const { user } = last()
    await acting(() => last().invalidate())
    expect(asked).toHaveLength(2)
    expect(seen).toHaveLength(renders)
    expect(last().user).toBe(user)
  })

  it('separates routes and adds the base path once', async () => {
    respond = (request, response) => signedIn(request.url ?? '')(request, response)
    mount(
      <IdpProvider basePath="/app" routes={{ profile: '/me' }}>
        <Status />
        <Status route="/other" />
        <Status route="/app/other" />
      </IdpProvider>,
    )
    await until(() => text() === '/app/me/app/other/app/other')
    expect(asked.sort()).toEqual(['/app/me', '/app/other'])
  })
})

describe('a user from IdpProvider', () => {
  it('is available immediately and causes no request', async () => {
    mount(
      <IdpProvider user={{ sub: 'seed' }}>
        <Status />
      </IdpProvider>,
    )
    expect(text()).toBe('seed')
    expect(seen.every((result) => !result.isLoading)).toBe(true)
    await settle()
    expect(asked).toEqual([])
  })

  it('may be null, which means that no user is signed in, without a request', async () => {
    mount(app({ user: null }))
    expect(text()).toBe('nobody')
    await settle()
    expect(asked).toEqual([])
  })

  it('is replaced if the server renders another one, not if only the parent renders', async () => {
    const seed = { sub: 'seed' }
    mount(app({ user: seed }))
    await acting(() => last().invalidate())
    expect(text()).toBe('alice')
    mount(app({ user: seed }))
    expect(text()).toBe('alice')
    mount(app({ user: { sub: 'newer' } }))
    expect(text()).toBe('newer')
    mount(app({ user: null }))
    expect(text()).toBe('nobody')
  })

  it('takes precedence over the response of an older request', async () => {
    let release = (): void => undefined
    respond = (request, response) => {
      release = () => signedIn('old')(request, response)
    }
    mount(app())
    await until(() => asked.length === 1)
    mount(app({ user: { sub: 'newer' } }))
    release()
    await settle()
    expect(text()).toBe('newer')
  })

  it('hydrates the server-rendered page without a mismatch', async () => {
    const complain = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const page = (
      <IdpProvider user={{ sub: 'seed' }}>
        <Status />
      </IdpProvider>
    )
    container.innerHTML = renderToString(page)
    await acting(async () => {
      root = hydrateRoot(container, page)
    })
    expect(text()).toBe('seed')
    expect(complain).not.toHaveBeenCalled()
  })
})

describe('revalidation', () => {
  it('happens on focus, at most every five seconds', async () => {
    const advance = advanceClock()
    mount(app())
    await until(() => text() === 'alice')
    respond = json(401)
    act(() => void window.dispatchEvent(new Event('focus')))
    await settle()
    expect(asked).toHaveLength(1)
    advance(5_001)
    act(() => {
      document.dispatchEvent(new Event('visibilitychange'))
      window.dispatchEvent(new Event('focus'))
    })
    await until(() => text() === 'nobody')
    expect(asked).toHaveLength(2)
  })

  it('happens after a sleep of the computer, during which performance.now() stops', async () => {
    mount(app())
    await until(() => text() === 'alice')
    respond = json(401)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
    act(() => void document.dispatchEvent(new Event('visibilitychange')))
    await until(() => text() === 'nobody')
  })

  it('does not happen in a hidden page', async () => {
    const advance = advanceClock()
    mount(app({ user: { sub: 'seed' } }))
    advance(60_000)
    vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
    act(() => void document.dispatchEvent(new Event('visibilitychange')))
    await settle()
    expect(asked).toEqual([])
  })

  it('happens immediately after a failure when the network is back', async () => {
    respond = json(503)
    mount(app())
    await until(() => last().error !== null)
    respond = signedIn('alice')
    act(() => void window.dispatchEvent(new Event('online')))
    await until(() => text() === 'alice')
  })

  it('always happens for a page from the back/forward cache', async () => {
    mount(app({ user: { sub: 'seed' } }))
    respond = json(401)
    act(() => void window.dispatchEvent(new Event('pageshow')))
    await settle()
    expect(text()).toBe('seed')
    act(() => void window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
    await until(() => text() === 'nobody')
  })

  it('ignores a response that was pending before the page was restored', async () => {
    let release = (): void => undefined
    mount(app({ user: { sub: 'seed' } }))
    respond = (request, response) => {
      release = () => signedIn('seed')(request, response)
    }
    const before = last().invalidate()
    await until(() => asked.length === 1)
    respond = json(401)
    act(() => void window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
    release()
    await acting(() => before)
    await until(() => text() === 'nobody')
    expect(asked).toHaveLength(2)
  })

  it('ends with the last component', async () => {
    const advance = advanceClock()
    mount(app())
    await until(() => text() === 'alice')
    mount(<IdpProvider />)
    advance(60_000)
    window.dispatchEvent(new Event('focus'))
    await settle()
    expect(asked).toHaveLength(1)
  })
})

describe('withPageAuthRequired', () => {
  const options = {
    onRedirecting: () => 'one moment',
    onError: (error: Error) => `failed: ${'status' in error ? error.status : error.message}`,
  }
  const Orders = ({ user, title }: { user: User; title: string }): ReactElement => (
    <h1>
      {title} of {user.sub}
    </h1>
  )

  function spyOnLocation(): string[] {
    const left: string[] = []
    vi.spyOn(window.location, 'assign').mockImplementation((url) => void left.push(String(url)))
    return left
  }

  it('renders the page once the user is loaded', async () => {
    const left = spyOnLocation()
    const Page = withPageAuthRequired(Orders, options)
    mount(app({}, <Page title="Orders" />))
    expect(text()).toBe('one moment')
    await until(() => text() === 'Orders of alice')
    expect(left).toEqual([])
    expect(Object.assign(Page).displayName).toBe('withPageAuthRequired(Orders)')
  })

  it('redirects to the login once, with the complete URL as returnTo', async () => {
    const left = spyOnLocation()
    respond = json(401)
    const Page = withPageAuthRequired(Orders, options)
    mount(<StrictMode>{app({ basePath: '/app' }, <Page title="Orders" />)}</StrictMode>)
    await until(() => left.length > 0)
    await settle()
    expect(left).toEqual(['/app/auth/login?returnTo=%2Forders%3Fpage%3D2%23last'])
    expect(text()).toBe('one moment')
  })

  it('uses returnTo of its options and the login route of IdpProvider', async () => {
    const left = spyOnLocation()
    const Page = withPageAuthRequired(Orders, { returnTo: '/start?a=b&c' })
    mount(app({ user: null, routes: { login: '/in?prompt=login' } }, <Page title="Orders" />))
    await until(() => left.length > 0)
    expect(left).toEqual(['/in?prompt=login&returnTo=%2Fstart%3Fa%3Db%26c'])
    expect(text()).toBe('')
  })

  it('redirects again from a restored page if there is no user', async () => {
    const left = spyOnLocation()
    respond = json(204)
    const Page = withPageAuthRequired(Orders)
    mount(app({ user: null }, <Page title="Orders" />))
    await until(() => left.length === 1)
    act(() => void window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true })))
    await until(() => left.length === 2)
  })

  it('shows the error instead of redirecting, and keeps a known user on the page', async () => {
    const left = spyOnLocation()
    const advance = advanceClock()
    respond = json(500)
    const Page = withPageAuthRequired(Orders, options)
    mount(app({}, <Page title="Orders" />))
    await until(() => text() === 'failed: 500')
    respond = signedIn('alice')
    act(() => void window.dispatchEvent(new Event('online')))
    await until(() => text() === 'Orders of alice')
    respond = json(500)
    advance(60_000)
    act(() => void window.dispatchEvent(new Event('focus')))
    await until(() => asked.length === 3)
    await settle()
    expect(text()).toBe('Orders of alice')
    expect(left).toEqual([])
  })
})

describe('[C9] a page that the server rendered without a user', () => {
  it('tells the other tabs through IdpProvider, without a request', async () => {
    const heard: unknown[] = []
    const other = new BroadcastChannel('idp-client')
    other.onmessage = ({ data }) => heard.push(data)
    mount(
      <StrictMode>
        <IdpProvider user={null}>no component here shows the user</IdpProvider>
      </StrictMode>,
    )
    await vi.waitFor(() => expect(heard).toContain(null), PATIENT)
    other.close()
    expect(asked).toEqual([])
  })

  it('sends no request if IdpProvider has no value', async () => {
    mount(<IdpProvider>nothing</IdpProvider>)
    await acting(async () => {
      await import('../browser/requests.ts')
    })
    expect(asked).toEqual([])
  })
})
