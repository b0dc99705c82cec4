// Searches what a browser has received and keeps for texts.
import { setTimeout as delay } from 'node:timers/promises'

/** Empty for redirects, whose body nobody can read, and for responses whose page has gone. */
const readBody = (response) => response.text().catch(() => '')

/** Milliseconds after which a response that does not end is a failure. */
const DEADLINE = 30_000

/** Runs in the page: all texts of its storage, document, cookies and addresses, and those that its global objects lead to. */
async function collectTexts() {
  const texts = [document.cookie, document.documentElement.outerHTML, location.href, document.referrer]
  for (const storage of [localStorage, sessionStorage])
    for (const name of Object.keys(storage)) texts.push(name, storage.getItem(name))
  for (const { name } of await indexedDB.databases()) texts.push(`database ${name}`)
  for (const name of await caches.keys()) texts.push(`cache ${name}`)
  for (const { name } of performance.getEntries()) texts.push(name)

  const seen = new Set()
  const open = [window, history.state, ...document.querySelectorAll('*')]
  const add = (value) => {
    if (typeof value === 'string') texts.push(value)
    else if (value !== null && (typeof value === 'object' || typeof value === 'function')) open.push(value)
  }
  while (open.length > 0) {
    const object = open.pop()
    if (object === null || seen.has(object)) continue
    seen.add(object)
    if (object instanceof Map) for (const entry of object) entry.forEach(add)
    if (object instanceof Set) object.forEach(add)
    // Only what is stored: the browser computes the rest, also what it cannot.
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      texts.push(name)
      add(value)
    }
  }
  return texts.join('\n')
}

/** Returns all texts in the memory of a page, also those that only closures know; each is cut after 1024 characters. */
async function readHeap(page) {
  const session = await page.context().newCDPSession(page)
  const parts = []
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => parts.push(chunk))
  await session.send('HeapProfiler.takeHeapSnapshot')
  await session.detach()
  return parts.join('')
}

/** Everything that the pages of a browser context send and receive. Make it before the first page is opened. */
export class Traffic {
  #texts = []
  #pending = []
  #unfinished = new Set()

  constructor(context) {
    context.on('request', (request) => this.#note('request', request.url(), request.postData() ?? ''))
    context.on('response', (response) => this.#pending.push(this.#read(response)))
    context.on('page', (page) => this.#pending.push(this.#listen(page)))
  }

  #note(kind, url, text) {
    this.#texts.push({ place: `${kind} ${new URL(url).pathname}`, text: `${url}\n${text}` })
  }

  async #read(response) {
    const url = response.url()
    const headers = await response.headersArray()
    this.#note('headers', url, headers.map(({ name, value }) => `${name}: ${value}`).join('\n'))
    // It has no end.
    if (headers.some(({ value }) => value.startsWith('text/event-stream'))) return
    this.#unfinished.add(url)
    this.#note('body', url, await readBody(response))
    this.#unfinished.delete(url)
  }

  async #listen(page) {
    const session = await page.context().newCDPSession(page)
    session.on('Network.eventSourceMessageReceived', ({ data, eventId, eventName }) =>
      this.#note('event', page.url(), `${eventId} ${eventName} ${data}`),
    )
    await session.send('Network.enable')
  }

  /** Returns the texts so far, with their places. */
  async read() {
    const timer = new AbortController()
    const late = delay(DEADLINE, undefined, { signal: timer.signal }).then(() => {
      throw new Error(`these responses do not end: ${[...this.#unfinished].join(', ')}`)
    })
    await Promise.race([Promise.all(this.#pending), late])
    late.catch(() => undefined)
    timer.abort()
    return [...this.#texts]
  }
}

/** Returns the texts that a page keeps, with their places. */
export async function readPage(page) {
  return [
    { place: 'page', text: await page.evaluate(collectTexts) },
    { place: 'heap', text: await readHeap(page) },
  ]
}

/** How much of a token is looked for: its beginning is the same for all, its end may be cut. */
const toNeedles = (token) => [token, token.slice(0, 400), ...token.split('.').slice(1)].filter(Boolean)

/** Returns the places where one of the tokens is found, whole or in part. */
export const findTokens = (texts, tokens) =>
  texts
    .filter(({ text }) => tokens.some((token) => toNeedles(token).some((needle) => text.includes(needle))))
    .map(({ place }) => place)
