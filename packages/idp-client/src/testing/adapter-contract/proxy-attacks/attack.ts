import { claim, claimEqual } from '../claim.ts'
import type { ProxiedPage } from '../proxied-page.ts'
import { own } from '../proxied-page.ts'
import type { RawHeaders, RawResponse } from '../raw-request.ts'
import { sendRaw } from '../raw-request.ts'
import { claimNoToken } from '../response-claims.ts'
import type { ProxiedRequest, ProxiedResponse } from '../upstream.ts'

/** Where a request goes. */
export interface AttackPlace {
  /** Path of the proxy as the server sees it, `/proxied` below a base path. */
  readonly prefix: string
  /** The segment by which requests that reach the API are recognized. */
  readonly id: string
  /** Host and port that the request is sent to. */
  readonly authority: string
}

/** A request, or a response of the API, that must do no harm. */
export interface ProxyAttack {
  readonly title: string
  /** Default: GET. */
  readonly method?: string
  /** Default: the page's own path. */
  readonly target?: (place: AttackPlace) => string
  /** Default: those of a script of the application. */
  readonly headers?: (origin: string) => RawHeaders
  readonly body?: string
  /** Response of the API; default: the JSON of the request. */
  readonly response?: ProxiedResponse
  /** The statuses that are right. 0: the server closes the connection. */
  readonly statuses: readonly number[]
  /** The code of our own failure, if it is one. */
  readonly code?: string
  /** How many requests the API gets; several where servers in front differ. */
  readonly sent: readonly number[]
  /** The paths that the API gets, behind that of its URL; default: that of the page. */
  readonly targets?: (id: string) => readonly string[]
  /** Asserts further rules. */
  readonly check?: (response: RawResponse, request: ProxiedRequest | undefined) => void
}

/** Headers of a write by a script of the application. */
export const ownWrite = (origin: string): RawHeaders => ({ ...own, origin })

export const valuesOf = ({ headers }: RawResponse, name: string): readonly string[] =>
  headers.flatMap(([other, value]) => (other === name ? [value] : []))

function claimOwnFailure(response: RawResponse, code: string): void {
  const { bytes, status } = response
  claimEqual(valuesOf(response, 'idp-client-error'), ['1'], `the mark of our failure (${status})`)
  claim(bytes.includes(`"${code}"`), `the code is ${code}: ${bytes.slice(-200)}`)
}

function claimHarmless(page: ProxiedPage, attack: ProxyAttack, response: RawResponse): void {
  const { code, sent, statuses, targets = (id): readonly string[] => [`/${id}`] } = attack
  const { bytes, status } = response
  const received = page.received()
  claim(sent.includes(received.length), `the API receives ${received.length} requests (status ${status})`)
  claim(statuses.includes(status), `the status is ${status} (${bytes.slice(0, 300)})`)
  const root = new URL(page.upstream.url).pathname
  for (const request of received) {
    page.claimClean(request)
    const allowed = targets(page.id).map((path) => page.toComparable(root + path))
    claim(allowed.includes(page.toComparable(request.target)), `the API gets ${request.target}`)
  }
  if (code !== undefined) claimOwnFailure(response, code)
  const foreign = valuesOf(response, 'set-cookie').filter((line) => !line.startsWith('__session'))
  claimEqual(foreign, [], 'cookies of others')
  claimNoToken(bytes, 'the response')
  claim(!/^x-injected/im.test(bytes), 'the response has no injected header')
  attack.check?.(response, received[0])
}

/** Sends the request of an attack by a page of its own, and asserts that it does no harm. */
export async function attackProxy(page: ProxiedPage, attack: ProxyAttack): Promise<void> {
  const { body, headers = (): RawHeaders => own, method = 'GET', response } = attack
  const url = page.url()
  const address = page.browser.address(url)
  const prefix = address.pathname.slice(0, -page.id.length - 1)
  const toTarget = attack.target ?? (({ id }: AttackPlace): string => `${prefix}/${id}`)
  if (response) page.respond(response)
  const raw = await sendRaw(page.browser.host, address, {
    method,
    target: toTarget({ prefix, id: page.id, authority: address.host }),
    headers: { ...page.browser.headers(url), ...headers(url.origin) },
    ...(body === undefined ? {} : { body }),
  })
  claimHarmless(page, attack, raw)
}
