import { cookies, headers } from 'next/headers.js'
import type { NextRequest, NextResponse } from 'next/server.js'
import * as nextServer from 'next/server.js'
import type { CookieSink, ReceivedCookies } from '../../http/cookie-jar.ts'
import { decodeCookieValue } from '../../http/cookie-jar.ts'
import { parseCookies } from '../../http/cookie-text.ts'
import type { Binding, RequestCookies, RequestView } from '../../http/exchange.ts'
import { requestCookies, requestState } from '../../http/host-state.ts'
import { requestContext } from '../../lib/request-scope.ts'
import { markPagesRun } from './page-guards.ts'

interface HostCookies extends CookieSink {
  getAll(): readonly { readonly name: string; readonly value: string }[]
  delete(name: string): unknown
}

const cookieContext = requestContext<RequestCookies>('next-cookies/2')

/**
 * Runs application code of a request whose cookies were already read, so that operations without a request use the same
 * cookies, which are decrypted once.
 */
export function sharing<T>({ cookies, slots }: RequestCookies, callback: () => T): T {
  return cookieContext.run({ cookies, slots }, callback)
}

/**
 * Returns the cookies of the request, overridden by those that the proxy wrote, which only `cookies()` shows. It has one
 * decoded value per name: an unchanged cookie keeps all received values.
 */
export function readCookies(header: string | null, host: Pick<HostCookies, 'getAll'>): ReceivedCookies {
  const merged = parseCookies(header)
  for (const { name, value } of host.getAll()) {
    const received = [merged.get(name) ?? []].flat()
    if (!received.some((each) => decodeCookieValue(each) === value)) merged.set(name, value)
  }
  return merged
}

function toAmbientView(requestHeaders: Headers): RequestView {
  return {
    headers: requestHeaders,
    // Components do not get the method; a Server Action is recognized by its header.
    method: requestHeaders.has('next-action') ? 'POST' : 'GET',
    url: null,
    form: async () => new URLSearchParams(),
    json: async () => ({}),
  }
}

/**
 * Returns whether cookies can be set. In a render both properties are the same function, which throws; elsewhere they
 * differ.
 */
function canSetCookies(host: HostCookies): boolean {
  return (host.set as unknown) !== host.delete
}

/** Missing in Next.js 14, where a named import of it would not load. */
const { connection }: Partial<typeof nextServer> = nextServer

/**
 * Binds the request that Next.js is handling. `connection()` comes first: with Cache Components every prerender and
 * prefetch stops there, before anything reads the clock or redeems a refresh token, and cache scopes throw. Next.js 14
 * stops at `headers()`. Rethrows errors of Next.js outside a request.
 */
export async function bindAmbient(): Promise<Binding> {
  await connection?.()
  const requestHeaders: Headers = await headers()
  const host: HostCookies = await cookies()
  const state = requestState(
    requestHeaders,
    () => toAmbientView(requestHeaders),
    () => cookieContext.getStore() ?? requestCookies(readCookies(requestHeaders.get('cookie'), host)),
  )
  const canWrite = (): boolean => canSetCookies(host)
  // In the proxy, cookies can be set.
  if (!canWrite()) markPagesRun()
  return {
    exchange: { ...state, canWrite },
    async commit() {
      if (canWrite()) state.cookies.flush(host)
      return !state.cookies.isPending
    },
  }
}

function serialize(cookies: readonly { readonly name: string; readonly value: string }[]): string {
  return JSON.stringify(cookies.map(({ name, value }) => [name, value]))
}

/** Returns `null` outside Next.js. */
async function hostCookies(): Promise<Awaited<ReturnType<typeof cookies>> | null> {
  try {
    return await cookies()
  } catch {
    return null
  }
}

/**
 * Also writes the cookies of a response to `cookies()`. In the proxy, Next.js replaces the cookies of the response by
 * those written through `cookies()`. If a hook or another middleware of the application did that, the login would
 * otherwise be lost. Returns the response.
 */
export async function repeatCookies(request: Request, response: NextResponse): Promise<NextResponse> {
  const received = (request as Partial<NextRequest>).cookies?.getAll()
  const host = received && (await hostCookies())
  if (!host || serialize(host.getAll()) === serialize(received)) return response
  for (const cookie of response.cookies.getAll()) host.set(cookie)
  return response
}
