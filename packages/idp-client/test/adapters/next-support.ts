import { NextRequest } from 'next/server.js'
import type { FrameworkRequest } from '../../src/adapters/next/index.ts'
import { IdpClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'

export const SECRET = 'a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20a5f1c3e8b7d94e20'
export const APP = 'https://app.example'

export function client(options: IdpClientOptions = {}): IdpClient {
  return new IdpClient({
    domain: 'idp.example',
    clientId: 'app',
    clientSecret: 'client-secret',
    secret: SECRET,
    appBaseUrl: APP,
    logger: () => {},
    ...options,
  })
}

interface NextConfig {
  readonly basePath?: string
  readonly trailingSlash?: boolean
  readonly i18n?: { readonly locales: string[]; readonly defaultLocale: string }
}

interface Sending extends NextConfig {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request as Next hands it to the proxy of an application with this configuration. */
export function nextRequest(path: string, sending: Sending = {}): FrameworkRequest {
  const { method = 'GET', headers = {}, ...nextConfig } = sending
  return new NextRequest(APP + path, { method, headers, nextConfig })
}

/** Seconds since the last use: too short for a further write, or long enough. */
const USED_AGO = { fresh: 10, due: 400 } as const

/** The `Cookie` header of a signed-in user, beside a cookie of the application. */
export async function signedIn(use: keyof typeof USED_AGO = 'fresh'): Promise<{ cookie: string }> {
  const now = Math.floor(Date.now() / 1000)
  const session = { user: { sub: 'carol', name: 'Carol' }, internal: { createdAt: now - 4000 } }
  const header = await generateCookieHeader(session, { secret: SECRET, now: now - USED_AGO[use] })
  return { cookie: `theme=dark; ${header}` }
}

/** The request headers that the application gets after a response of the proxy; null when it gets them unchanged. */
export function forwarded(response: Response): Record<string, string> | null {
  const names = response.headers.get('x-middleware-override-headers')
  if (names === null) return null
  return Object.fromEntries(
    names.split(',').map((name) => [name, response.headers.get(`x-middleware-request-${name}`) ?? '']),
  )
}

export function cookieNames(response: Response): string[] {
  return response.headers.getSetCookie().map((line) => line.split('=', 1)[0] ?? '')
}
