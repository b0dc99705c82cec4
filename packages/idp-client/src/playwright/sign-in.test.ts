import { runInNewContext } from 'node:vm'
import type { Locator, Page } from '@playwright/test'
import { Window } from 'happy-dom'
import { expect, test } from 'vitest'
import { signIn } from './sign-in.ts'

const app = 'http://localhost:3000/account'
const loginPage = 'http://localhost:4400/interaction/1'

const loginHtml =
  '<form method="post" action="/interaction/1"><button class="user" name="user" value="alice">Alice</button></form>'

const redirect = '<script>"NEXT_REDIRECT;replace;/auth/login?returnTo=%2Faccount"</script>'

/**
 * A page of Next.js, of which each look at its document is one step of its redirect to the login page: null rejects, a URL is that
 * of a redirect within the document.
 */
class FakePage implements Page {
  readonly opened: string[] = []
  pauses = 0
  html = ''
  readonly #loaded = app
  #url: string
  readonly #contents: (string | null | URL)[]

  constructor(contents: readonly (string | null | URL)[], url = app) {
    this.#contents = [...contents]
    this.#url = url
  }

  async evaluate(expression: string): Promise<unknown> {
    const next = this.#contents.shift()
    if (next === null) throw new Error('the page is navigating')
    if (next === undefined) this.#url = loginPage
    if (next instanceof URL) this.#url = next.href
    const html = next instanceof URL ? redirect : (next ?? loginHtml)
    this.html = html
    return runInNewContext(expression, {
      document: { documentElement: { outerHTML: html } },
      location: { href: this.#url },
      performance: { getEntriesByType: () => [{ name: next === undefined ? loginPage : this.#loaded }] },
    })
  }

  async goto(path: string): Promise<{ ok(): boolean; status(): number }> {
    this.opened.push(path)
    this.#url = loginPage
    this.html = loginHtml
    return { ok: () => true, status: () => 200 }
  }

  locator(selector: string): Locator {
    const button = this.#button()
    return { ...button, all: async () => (this.#has(selector) ? [button] : []) }
  }

  #has(selector: string): boolean {
    const { document } = new Window()
    document.body.innerHTML = this.html
    return document.querySelector(selector) !== null
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

  async waitForLoadState(): Promise<void> {}

  async waitForTimeout(): Promise<void> {
    this.pauses++
  }

  async waitForURL(matches: (url: URL) => boolean): Promise<void> {
    expect(matches(new URL(this.#url))).toBe(true)
  }
}

test('a page that redirects by a script after it was loaded is not interrupted, so that the login returns to it', async () => {
  const page = new FakePage([redirect, null])
  await signIn(page, 'alice')
  expect(page.opened).toEqual([])
  expect(page.url()).toBe(app)
})

test('a page that does not redirect is left for the login route', async () => {
  const page = new FakePage(['<h1>Home</h1>'])
  await signIn(page, 'alice')
  expect(page.opened).toEqual(['/auth/login'])
})

test('buttons of the application that look like those of the login page are not clicked', async () => {
  const page = new FakePage([
    '<form method="post" action="/users/delete"><button name="user" value="alice">Delete</button></form>',
  ])
  await signIn(page, 'alice')
  expect(page.opened).toEqual(['/auth/login'])
})

test('a redirect within the document has ended with the new URL', async () => {
  const page = new FakePage([redirect, new URL('/start', app), redirect, redirect])
  await signIn(page, 'alice')
  expect(page.opened).toEqual(['/auth/login'])
})

test('a redirect within the document that has ended before is not waited for', async () => {
  const page = new FakePage(Array<string>(1000).fill(redirect), 'http://localhost:3000/start')
  await signIn(page, 'alice')
  expect([page.pauses, page.opened]).toEqual([0, ['/auth/login']])
})
