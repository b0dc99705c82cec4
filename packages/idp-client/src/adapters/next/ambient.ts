import { cookies, headers } from 'next/headers.js'
import type { NextRequest, NextResponse } from 'next/server.js'
import * as nextServer from 'next/server.js'
import type { Binding } from '../../binding.ts'
import type { CookieSink, ReceivedCookies } from '../../http/cookie-jar.ts'
import { parseCookies } from '../../http/cookie-text.ts'
import type { RequestCookies, RequestView } from '../../http/exchange.ts'
import { requestCookies } from '../../http/exchange.ts'
import { requestState } from '../../http/request-state.ts'
import { createRequestContext } from '../../lib/request-scope.ts'

interface HostCookies extends CookieSink {
  getAll(): readonly { readonly name: string; readonly value: string }[]
  delete(name: string): unknown
}

const handled = createRequestContext<RequestCookies>()

/**
 * Runs code of the application that belongs to a request whose cookies were read already: its operations without a
 * request find the same cookies, opened once.
 */
export function sharing<T>({ cookies, slots }: RequestCookies, callback: () => T): T {
  return handled.run({ cookies, slots }, callback)
}

/** The cookies of the request as they were sent; over them what the proxy has written, which only `cookies()` shows. */
function received(header: string | null, host: HostCookies): ReceivedCookies {
  const merged = parseCookies(header)
  for (const { name, value } of host.getAll()) {
    if (header === null || !header.includes(`${name}=${value}`)) merged.set(name, value)
  }
  return merged
}

function toRequestView(given: Headers): RequestView {
  return {
    headers: given,
    // Components are told no method; a Server Action is known by its header.
    method: given.has('next-action') ? 'POST' : 'GET',
    url: null,
    form: async () => new URLSearchParams(),
    json: async () => ({}),
  }
}

/** In a render both are the same function, which throws; where cookies can be set they differ. */
function takesCookies(host: HostCookies): boolean {
  return (host.set as unknown) !== host.delete
}

/** Missing in Next 14, where a named import of it would not load. */
const { connection }: Partial<typeof nextServer> = nextServer

/**
 * Binds the request that Next is handling right now. `connection()` comes first: with Cache Components every prerender
 * and every prefetch stops there, before anything reads the clock or spends a refresh token, and a cache scope is
 * refused. Next 14 stops at `headers()`. Throws what Next throws outside a request.
 */
export async function bindAmbient(): Promise<Binding> {
  await connection?.()
  const given: Headers = await headers()
  const host: HostCookies = await cookies()
  const state = requestState(given, () => ({
    request: toRequestView(given),
    ...(handled.get() ?? requestCookies(received(given.get('cookie'), host))),
  }))
  const canWrite = (): boolean => takesCookies(host)
  return {
    exchange: { ...state, canWrite },
    async commit() {
      if (canWrite()) state.cookies.flush(host)
      return state.cookies.pending().length === 0
    },
  }
}

function text(cookies: readonly { readonly name: string; readonly value: string }[]): string {
  return JSON.stringify(cookies.map(({ name, value }) => [name, value]))
}

/** Null outside Next, where nothing replaces anything. */
async function hostCookies(): Promise<Awaited<ReturnType<typeof cookies>> | null> {
  try {
    return await cookies()
  } catch {
    return null
  }
}

/**
 * In the proxy Next puts what was written through `cookies()` in place of the cookies of the response. If a hook or
 * another middleware of the application did that, ours have to be there as well, or the login would be lost.
 */
export async function repeatCookies(request: Request, response: NextResponse): Promise<void> {
  const written = response.cookies.getAll()
  const received = (request as Partial<NextRequest>).cookies?.getAll()
  if (written.length === 0 || !received) return
  const host = await hostCookies()
  if (!host || text(host.getAll()) === text(received)) return
  for (const cookie of written) host.set(cookie)
}
