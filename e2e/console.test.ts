import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from './fixtures/support/chromium.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { newProfile } from './support/browser-profile.ts'
import { Complaints, splitMessages } from './support/complaints.ts'

let browser: Browser
let server: Server
let url: string

const pages: Readonly<Record<string, string>> = {
  '/quiet': '<p>quiet</p>',
  '/error': '<script>console.error("one is wrong")</script>',
  '/warning': '<script>console.warn("one is odd")</script>',
  '/uncaught': '<script>throw new Error("one is thrown")</script>',
  '/rejected': '<script>Promise.reject(new Error("one is rejected"))</script>',
  '/refused': '<script>fetch("/missing?secret=1")</script>',
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const page = pages[request.url ?? '']
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(`<link rel="icon" href="data:,">${page ?? 'missing'}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  browser = await startChromium()
})

afterAll(async () => {
  await browser?.close()
  server?.closeAllConnections()
  server?.close()
})

async function open(path: string): Promise<BrowserProfile> {
  const profile = await newProfile(browser)
  await profile.page.goto(url + path)
  return profile
}

const message = (context: BrowserContext): Promise<unknown> => context.waitForEvent('console')
const exception = (context: BrowserContext): Promise<unknown> => context.waitForEvent('weberror')

test.each([
  ['/error', message, 'not announced: error: one is wrong'],
  ['/warning', message, 'not announced: warning: one is odd'],
  ['/uncaught', exception, 'not announced: uncaught: Error: one is thrown'],
  ['/rejected', exception, 'not announced: uncaught: Error: one is rejected'],
  ['/refused', message, 'not announced: 404 /missing'],
  ['/nowhere', message, 'not announced: 404 /nowhere'],
])('[J2] any message of %s on the console fails the test', async (path, reported, problem) => {
  const profile = await newProfile(browser)
  const { context, page } = profile
  await Promise.all([reported(context), page.goto(url + path)])
  await expect(profile.leave()).rejects.toThrow(problem)
})

test('[J2] a failed request that was announced by status and path passes', async () => {
  const profile = await open('/refused')
  profile.announce(404, '/missing')
  await profile.leave()
})

test('a page that reports nothing passes', async () => {
  await (await open('/quiet')).leave()
})

test('[J2] messages on the standard error of a server: not announced, announced, and missing ones', async () => {
  const complaints = new Complaints('a server', 0)
  const messages = splitMessages((message) => complaints.add(message))
  for (const chunk of ['Error: first\n    at one', ' (file.ts)\n    at two\n', 'second\n']) {
    messages.write(Buffer.from(chunk))
  }
  await expect(complaints.settle()).rejects.toThrow('not announced: second')
  messages.write(Buffer.from('third, without an end'))
  messages.end()
  complaints.announce(/^third/)
  await complaints.settle()
  complaints.announce(/^third/)
  await expect(complaints.settle()).rejects.toThrow('announced, but did not come: /^third/')
})

test('the development server of Next.js may find the file system slow', async () => {
  const complaints = new Complaints('a server', 0)
  const messages = splitMessages((message) => complaints.add(message))
  messages.write(
    Buffer.from(
      '⚠ Slow filesystem detected. The benchmark took 246ms. If .next is a network drive, move it.\n' +
        'See more: https://nextjs.org/docs/app/guides/local-development\n',
    ),
  )
  await complaints.settle()
})
