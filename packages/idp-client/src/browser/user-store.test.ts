// @vitest-environment happy-dom
import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PATIENT } from '../../test/support/timeouts.ts'
import { configure, fetchApi, fetchUser, getAccessToken, mfa, userStore } from './index.ts'
import { forgetTokens, toIdentity } from './page-state.ts'

let server: Server
/** The user of the session; `null` without one. */
let sub: string | null
/** The organization of the session. */
let organization: string | undefined
/** Status of a profile route that fails. */
let failure: number | undefined
/** Code of an access-token route that fails. */
let refusal: string | undefined
/** Responds to a request of the profile. */
let respond: (send: () => void) => void
let asked: string[]
let ends: (() => void)[]
let otherTab: BroadcastChannel

// happy-dom adds this to its window; its published type does not reach `Window`.
const browser = window as unknown as { happyDOM: { setURL(url: string): void } }

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

beforeEach(async () => {
  sub = 'alice'
  organization = undefined
  failure = undefined
  refusal = undefined
  respond = (send) => send()
  asked = []
  ends = []
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const status = sub === null ? 401 : 200
    const token = { token: `token of ${organization ?? sub}`, expires_in: 3600, expires_at: 1 }
    if (url.endsWith('/profile'))
      respond(() => json(response, failure ?? status, { sub, org_id: organization }))
    else if (sub === null) json(response, 401, { error: { code: 'MISSING_SESSION', message: 'No session.' } })
    else if (refusal) json(response, 401, { error: { code: refusal, message: 'Refused.' } })
    else json(response, status, token)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  browser.happyDOM.setURL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  configure({})
  forgetTokens()
  otherTab = new BroadcastChannel('idp-client')
})
afterEach(async () => {
  otherTab.close()
  for (const end of ends) end()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

/** Shows the user, until the returned function is called or the test ends. */
function show(): () => void {
  const end = userStore().subscribe(() => {})
  ends.push(end)
  return end
}

const shown = (): string | undefined => userStore().current().user?.sub

/** Waits until this tab has received what other tabs have sent before. */
async function heard(): Promise<void> {
  const last = new BroadcastChannel('idp-client')
  const arrived = new Promise((done) => Object.assign(last, { onmessage: done }))
  otherTab.postMessage(toIdentity({ sub: 'alice' }))
  await arrived
  last.close()
}

describe('a user that nothing shows for a while', () => {
  it.each([
    ['another tab has reported a logout', () => otherTab.postMessage(null)],
    ['the window got the focus', () => dispatchEvent(new Event('focus'))],
    ['the page was restored', () => dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))],
  ])('is requested again for the next subscriber if %s', async (_title, happen) => {
    const end = show()
    await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
    end()
    sub = null
    happen()
    await heard()
    expect(asked).toHaveLength(1)
    show()
    await vi.waitFor(() => expect(shown()).toBeUndefined(), PATIENT)
  })

  it('is requested again if fetchUser has requested it before', async () => {
    await fetchUser()
    sub = null
    otherTab.postMessage(null)
    await heard()
    show()
    await vi.waitFor(() => expect(shown()).toBeUndefined(), PATIENT)
  })

  it('is not requested again if nothing has happened', async () => {
    await fetchUser()
    dispatchEvent(new Event('pageshow'))
    show()()
    show()
    await import('./requests.ts')
    expect(shown()).toBe('alice')
    expect(asked).toHaveLength(1)
  })
})

it('a user of configure is no part of the state in which a page hydrates', () => {
  configure({ user: { sub: 'alice' } })
  const { current, initial } = userStore()
  expect(current()).toEqual({ user: { sub: 'alice' }, isLoading: false, error: null })
  expect(initial()).toEqual({ user: null, isLoading: true, error: null })
})

/** The `clone` of happy-dom loses the body of a response from the network, so that this one is made here. */
async function fetchWithoutSession(): Promise<void> {
  const headers = { 'idp-client-error': '1' }
  const response = new Response(JSON.stringify({ code: 'NOT_AUTHENTICATED' }), { status: 401, headers })
  const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValueOnce(response)
  await fetchApi('/api/orders')
  sent.mockRestore()
}

describe('an access token of a user who is not known yet', () => {
  it('is dropped if the first response has no user', async () => {
    let send = (): void => {}
    respond = (later) => {
      send = later
    }
    show()
    expect(await getAccessToken()).toBe('token of alice')
    sub = null
    failure = 401
    await vi.waitFor(() => expect(asked).toContain('/auth/profile'), PATIENT)
    send()
    await vi.waitFor(() => expect(userStore().current().isLoading).toBe(false), PATIENT)
    await expect(getAccessToken()).rejects.toThrow()
  })

  it.each([
    ['the next request finds no user', () => userStore().refresh()],
    ['another tab has reported a logout', () => otherTab.postMessage(null)],
  ])('is dropped after a failure if %s', async (_title, happen) => {
    failure = 503
    show()
    await vi.waitFor(() => expect(userStore().current().error).not.toBeNull(), PATIENT)
    expect(await getAccessToken()).toBe('token of alice')
    failure = undefined
    sub = null
    await happen()
    await vi.waitFor(() => expect(userStore().current().error).toBeNull(), PATIENT)
    await expect(getAccessToken()).rejects.toThrow()
  })

  it.each([
    ['fetchApi', fetchWithoutSession],
    ['mfa', () => mfa.getAuthenticators({ mfaToken: 'token' })],
  ])('is dropped if %s finds no session', async (_title, request) => {
    expect(await getAccessToken()).toBe('token of alice')
    sub = null
    await Promise.allSettled([request()])
    await vi.waitFor(() => expect(getAccessToken()).rejects.toThrow('No session.'), PATIENT)
  })

  it('is kept if the first response has a user', async () => {
    show()
    await getAccessToken()
    await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
    await getAccessToken()
    expect(asked.filter((url) => url === '/auth/access-token')).toHaveLength(1)
  })
})

it('a login of the same user to another organization drops the tokens of the organization before', async () => {
  organization = 'org_acme'
  show()
  await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
  expect(await getAccessToken()).toBe('token of org_acme')
  organization = 'org_globex'
  await userStore().refresh()
  expect(await getAccessToken()).toBe('token of org_globex')
})

it('a user who needs a new login for tokens still does if another component shows the user', async () => {
  show()
  await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
  refusal = 'MISSING_REFRESH_TOKEN'
  await expect(getAccessToken()).rejects.toThrow()
  show()
  await expect(getAccessToken()).rejects.toThrow()
  expect(userStore().current()).toMatchObject({ user: { sub: 'alice' }, error: { code: refusal } })
  expect(asked).toEqual(['/auth/profile', '/auth/access-token', '/auth/access-token'])
})

describe('the error of a user who needs a new login for a token', () => {
  /** Calls back as soon as a request of the profile is pending, and responds to it afterwards. */
  async function during(action: () => Promise<unknown>): Promise<void> {
    const pending = new Promise<() => void>((resolve) => {
      respond = resolve
    })
    const requested = userStore().refresh()
    const send = await pending
    await action()
    send()
    await requested
  }

  it.each([[true], [false]])(
    'is kept by the response to an earlier request (user known: %s)',
    async (isKnown) => {
      if (isKnown) {
        show()
        await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
      }
      refusal = 'FAILED_TO_REFRESH_TOKEN'
      await during(async () => {
        show()
        await expect(getAccessToken()).rejects.toThrow()
      })
      const { current, refresh } = userStore()
      expect(current()).toMatchObject({ user: { sub: 'alice' }, error: { code: 'FAILED_TO_REFRESH_TOKEN' } })
      respond = (send) => send()
      await refresh()
      expect(current().error).toBeNull()
    },
  )

  it('does not make a report of the same user by another tab request the user', async () => {
    show()
    await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
    refusal = 'FAILED_TO_REFRESH_TOKEN'
    await expect(getAccessToken()).rejects.toThrow()
    const sent = vi.spyOn(globalThis, 'fetch')
    await heard()
    expect(sent).not.toHaveBeenCalled()
    sent.mockRestore()
    expect(userStore().current().error).not.toBeNull()
  })

  it('is not shown for another user', async () => {
    show()
    await vi.waitFor(() => expect(shown()).toBe('alice'), PATIENT)
    refusal = 'FAILED_TO_REFRESH_TOKEN'
    sub = 'bob'
    await during(() => expect(getAccessToken()).rejects.toThrow())
    expect(userStore().current()).toMatchObject({ user: { sub: 'bob' }, error: null })
  })
})
