// @vitest-environment happy-dom
import type { ReactElement, ReactNode } from 'react'
import { act } from 'react'
import type { Root } from 'react-dom/client'
import { createRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { configure, userStore } from '../../browser/index.ts'
import { IdpProvider, useUser } from '../../react/index.ts'
import { mockUser } from './mock-user.ts'

const fetched = vi.fn()
let container: HTMLElement
let root: Root
let restore = (): void => {}

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true)
  vi.stubGlobal('fetch', fetched)
  container = document.createElement('main')
  root = createRoot(container)
})

afterEach(() => {
  act(() => root.unmount())
  restore()
  vi.unstubAllGlobals()
  fetched.mockReset()
})

function Greeting(): ReactElement {
  const { error, isLoading, user } = useUser()
  if (isLoading) return <>Loading</>
  if (error) return <>Failed with {error.status}</>
  return <>{user ? `Hello ${user.name}` : 'Log in'}</>
}

function show(element: ReactNode): string | null {
  act(() => root.render(element))
  return container.textContent
}

test.each([
  [{ user: { sub: 'alice', name: 'Alice' } }, 'Hello Alice'],
  [{ user: null }, 'Log in'],
  [{}, 'Log in'],
  [{ isLoading: true }, 'Loading'],
  [{ failedWith: 503 }, 'Failed with 503'],
])('useUser of React returns %j, without a request', (state, text) => {
  restore = mockUser(state)
  expect(show(<Greeting />)).toBe(text)
  expect(show(<IdpProvider user={{ sub: 'bob' }}>{<Greeting />}</IdpProvider>)).toBe(text)
  expect(renderToString(<Greeting />).replaceAll('<!-- -->', '')).toBe(text)
  window.dispatchEvent(new Event('focus'))
  expect(fetched).not.toHaveBeenCalled()
})

test('another call changes mounted components, until the mock ends', () => {
  restore = mockUser({ user: { sub: 'alice', name: 'Alice' } })
  expect(show(<Greeting />)).toBe('Hello Alice')
  act(() => void mockUser())
  expect(container.textContent).toBe('Log in')
  restore()
  expect(show(<IdpProvider user={{ sub: 'bob', name: 'Bob' }}>{<Greeting key="new" />}</IdpProvider>)).toBe(
    'Hello Bob',
  )
})

test('userStore of the browser entry has the same state, whatever configure says', async () => {
  restore = mockUser({ failedWith: 500 })
  configure({ user: { sub: 'bob' } })
  const store = userStore({ route: '/me' })
  const seen: unknown[] = []
  const end = store.subscribe(() => seen.push(store.current().user?.sub))
  expect(store.current()).toMatchObject({ user: null, isLoading: false, error: { code: 'INTERNAL_ERROR' } })
  await store.refresh()
  mockUser({ user: { sub: 'alice' } })
  end()
  mockUser()
  expect(seen).toEqual(['alice'])
  expect(fetched).not.toHaveBeenCalled()
})
