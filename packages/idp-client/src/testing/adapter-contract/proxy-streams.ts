import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { own, ProxiedPage, sha256, within } from './proxied-page.ts'
import { sendRaw } from './raw-request.ts'
import { claimSignedIn } from './response-claims.ts'
import type { ProxiedRequest } from './upstream.ts'

/** More than fits into the buffers between the API and the browser. */
const BIG = 3 * 1_048_576
const PART = 65_536

type Bytes = Uint8Array<ArrayBuffer>

/** Returns a body that arrives in parts, so that its length is not known. */
function toParts(bytes: Bytes): ReadableStream<Uint8Array> {
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(offset, offset + PART))
      offset += PART
    },
  })
}

/** A body that begins and never ends. */
const endless = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(PART)) })

/** The member of `RequestInit` that streams need. */
interface StreamInit extends RequestInit {
  readonly duplex?: 'half'
}

const upload = (body: Bytes | ReadableStream<Uint8Array>, further: StreamInit = {}): StreamInit => ({
  method: 'PUT',
  body,
  duplex: 'half',
  headers: { 'content-type': 'application/octet-stream' },
  ...further,
})

/** Reads until the parts contain a text. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<void> {
  const decoder = new TextDecoder()
  for (let all = ''; !all.includes(text); ) {
    const { done, value } = await within(`the event "${text}" arrives`, reader.read())
    claim(!done, `the stream does not end before the event "${text}"`)
    all += decoder.decode(value, { stream: true })
  }
}

async function claimUnsupported(page: ProxiedPage): Promise<void> {
  const responding = page.fetch('', { headers: { accept: 'text/event-stream' } })
  await page.until('the API receives the request', ({ sent }) => sent > 0)
  await page.upstream.endEvents()
  const { status } = await responding
  claim(status === 200 || status === 501, `a host without streams responds with 501 (status ${status})`)
}

/** Sends a request that is never responded to, and leaves once `isUnderWay`. */
async function leave(
  page: ProxiedPage,
  init: StreamInit,
  [what, isUnderWay]: readonly [what: string, isUnderWay: (request: ProxiedRequest) => boolean],
): Promise<void> {
  const leaving = new AbortController()
  const responding = page.fetch('', { ...init, signal: leaving.signal })
  const responded = responding.then(({ status }) => claim(false, `${what} (it responds with ${status})`))
  await Promise.race([page.until(what, isUnderWay), responded])
  leaving.abort()
  await responded.catch(() => undefined)
}

async function leaveBeforeHead(page: ProxiedPage): Promise<void> {
  page.respond({ kind: 'silent' })
  await leave(page, {}, ['the API receives the request', () => true])
  await page.until('the request ends before its head', ({ closedEarly }) => closedEarly)
}

async function leaveDownload(page: ProxiedPage): Promise<void> {
  const leaving = new AbortController()
  const { body } = await within('the head arrives', page.fetch('', { signal: leaving.signal }))
  await within('the first part arrives', body?.getReader().read() ?? Promise.reject())
  leaving.abort()
  await page.until('the request ends in the middle of its response', ({ closedEarly }) => closedEarly)
}

async function leaveUpload(page: ProxiedPage): Promise<void> {
  await leave(page, upload(endless()), ['the API receives a part', ({ bodyBytes }) => bodyBytes >= PART])
  await page.until('the request ends in the middle of its body', ({ aborted }) => aborted)
}

/**
 * Returns whether the whole response arrived, as its bytes say. `fetch` of Node.js takes any end of a connection for that of the body,
 * or keeps the connection for another request, whose body it does not send again if the server closes it.
 */
async function isComplete(page: ProxiedPage): Promise<boolean> {
  const { browser } = page
  const address = browser.address(page.url())
  const headers = { ...own, ...browser.headers(page.url()) }
  try {
    const response = await sendRaw(browser.host, address, {
      method: 'GET',
      target: address.pathname,
      headers,
    })
    return response.isComplete && response.status === 200
  } catch {
    return false
  }
}

/** Cases for bodies that take time. */
export const proxyStreams: ContractRuns = {
  'the proxy passes bodies of several megabytes in both directions unchanged': async (host) => {
    const page = await ProxiedPage.open(host)
    const bytes = new Uint8Array(BIG).map((_, index) => (index * 31 + (index >> 8)) & 255)
    const hash = await sha256(bytes)
    for (const body of [bytes, toParts(bytes)]) {
      const response = await page.fetch('', upload(body))
      const echo = (await response.json()) as Record<string, unknown>
      const what = body instanceof Uint8Array ? 'a body of known length' : 'a body of unknown length'
      claimEqual([response.status, echo['bytes'], echo['sha256']], [200, BIG, hash], what)
    }
    page.respond({ kind: 'big', bytes: BIG })
    const response = await page.fetch()
    const received = new Uint8Array(await response.arrayBuffer())
    const sent = new Uint8Array(BIG).fill('u'.charCodeAt(0))
    claimEqual([response.status, received.length], [200, BIG], 'the response')
    claimEqual(await sha256(received), await sha256(sent), 'its bytes')
  },

  'the proxy passes each event of a stream on when it is sent': async (host) => {
    const page = await ProxiedPage.open(host)
    page.respond({ kind: 'events' })
    if (host.proxyLimits?.buffers) return claimUnsupported(page)
    const responding = page.fetch('', { headers: { accept: 'text/event-stream', 'last-event-id': '7' } })
    await page.until('the API receives the request', ({ sent }) => sent > 0)
    // Otherwise the head arrives before there is an event.
    if (host.proxyLimits?.delaysHead) await page.upstream.push('none')
    const response = await within('the head arrives', responding)
    const type = response.headers.get('content-type')
    claim(
      response.status === 200 && /^text\/event-stream\b/.test(type ?? ''),
      `the head (${response.status} ${type})`,
    )
    const reader = response.body?.getReader()
    claim(reader !== undefined, 'the response has a body')
    for (const event of ['first', 'second']) {
      await page.upstream.push(event)
      await readUntil(reader, `data: ${event}\n\n`)
    }
    await page.upstream.endEvents()
    const { done } = await within('the stream ends', reader.read())
    claim(done, 'the stream ends with that of the API')
    claimEqual(page.received()[0]?.header('last-event-id'), '7', 'the last event that the browser knows')
  },

  'a client that leaves ends the request to the API: before the head, in the middle of a response and of an upload':
    async (host) => {
      const { buffers, noticesLate } = host.proxyLimits ?? {}
      if (buffers) return
      const page = await ProxiedPage.open(host)
      // The browser reads as fast as the API writes, until it leaves.
      page.respond({ kind: 'big', bytes: 256 * BIG })
      await leaveDownload(page)
      if (noticesLate) return
      const stalled = page.next()
      stalled.respond({ kind: 'stall', after: 1000 })
      await leaveDownload(stalled)
      await leaveBeforeHead(page.next())
      await leaveUpload(page.next())
    },

  'a response that breaks off at the API never looks complete': async (host) => {
    for (const chunked of [false, true]) {
      const page = await ProxiedPage.open(host)
      page.respond({ kind: 'cut', after: 1000, chunked })
      claim(!(await isComplete(page)), `the response is not complete (chunked: ${chunked})`)
      await claimSignedIn(page.browser, 'alice', 'after a response that broke off')
    }
  },
}
