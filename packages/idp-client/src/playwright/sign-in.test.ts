import type { Locator, Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { signIn } from './sign-in.ts'

const app = 'http://localhost:3000/account'
const loginPage = 'http://localhost:4400/interaction/1'

/** A page of Next.js, of which each request for its content is one step of its redirect to the login page; null rejects. */
class FakePage implements Page {
  readonly opened: string[] = []
  #url = app
  readonly #contents: (string | null)[]

  constructor(contents: readonly (string | null)[]) {
    this.#contents = [...contents]
  }

  async content(): Promise<string> {
    const next = this.#contents.shift()
    if (next === null) throw new Error('the page is navigating')
    if (next === undefined) this.#url = loginPage
    return next ?? '<h1>Sign in</h1>'
  }

  async goto(path: string): Promise<{ ok(): boolean; status(): number }> {
    this.opened.push(path)
    this.#url = loginPage
    return { ok: () => true, status: () => 200 }
  }

  locator(): Locator {
    const button = this.#button()
    return { ...button, all: async () => (this.#url === loginPage ? [button] : []) }
  }

  #button(): Locator {
    return {
      all: async () => [],
      click: async () => {
        this.#url = app
      },
      getAttribute: async () => 'alice',
    }
  }

  url(): string {
    return this.#url
  }

  async waitForTimeout(): Promise<void> {}

  async waitForURL(matches: (url: URL) => boolean): Promise<void> {
    expect(matches(new URL(this.#url))).toBe(true)
  }
}

test('a page that redirects by a script after it was loaded is not interrupted, so that the login returns to it', async () => {
  const page = new FakePage([
    '<script>"NEXT_REDIRECT;replace;/auth/login?returnTo=%2Faccount"</script>',
    null,
  ])
  await signIn(page, 'alice')
  expect(page.opened).toEqual([])
  expect(page.url()).toBe(app)
})

test('a page that does not redirect is left for the login route', async () => {
  const page = new FakePage(['<h1>Home</h1>'])
  await signIn(page, 'alice')
  expect(page.opened).toEqual(['/auth/login'])
})
