import type { ReactElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { User } from './index.ts'
import { IdpProvider, useUser, withPageAuthRequired } from './index.ts'

function Status(): ReactElement {
  const { user, isLoading } = useUser()
  return <p>{isLoading ? 'loading' : (user?.sub ?? 'nobody')}</p>
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('rendering on a server', () => {
  it('shows the user of IdpProvider without a request', () => {
    const fetch = vi.fn()
    vi.stubGlobal('fetch', fetch)
    const page = renderToString(
      <IdpProvider user={{ sub: 'alice' }}>
        <Status />
      </IdpProvider>,
    )
    expect(page).toBe('<p>alice</p>')
    expect(fetch).not.toHaveBeenCalled()
  })

  it('renders no user if IdpProvider has none, and the loading state if it has no value', () => {
    const render = (user?: null): string =>
      renderToString(
        <IdpProvider user={user}>
          <Status />
        </IdpProvider>,
      )
    expect(render(null)).toBe('<p>nobody</p>')
    expect(render()).toBe('<p>loading</p>')
    expect(renderToString(<Status />)).toBe('<p>loading</p>')
  })

  it('never shares a user between two requests, even if one renders inside the other', () => {
    function Nested(): ReactElement {
      const inner = renderToString(
        <IdpProvider user={{ sub: 'bob' }}>
          <Status />
        </IdpProvider>,
      )
      return <output data-inner={inner} />
    }
    const outer = renderToString(
      <IdpProvider user={{ sub: 'alice' }}>
        <Nested />
        <Status />
      </IdpProvider>,
    )
    expect(outer).toContain('bob')
    expect(outer).toContain('<p>alice</p>')
    expect(renderToString(<Status />)).toBe('<p>loading</p>')
  })

  it('separates two instances of IdpProvider in one page', () => {
    const page = renderToString(
      <>
        <IdpProvider user={{ sub: 'alice' }}>
          <Status />
        </IdpProvider>
        <IdpProvider user={{ sub: 'bob' }}>
          <Status />
        </IdpProvider>
      </>,
    )
    expect(page).toBe('<p>alice</p><p>bob</p>')
  })

  it('renders a protected page for a known user, otherwise the waiting view', () => {
    const Page = withPageAuthRequired(({ user }: { user: User }) => <h1>{user.sub}</h1>, {
      onRedirecting: () => <p>One moment</p>,
    })
    const render = (user: User | null): string =>
      renderToString(
        <IdpProvider user={user}>
          <Page />
        </IdpProvider>,
      )
    expect(render({ sub: 'alice' })).toBe('<h1>alice</h1>')
    expect(render(null)).toBe('<p>One moment</p>')
  })
})
