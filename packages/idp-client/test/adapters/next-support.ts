import { NextRequest } from 'next/server.js'
import type { FrameworkRequest } from '../../src/adapters/next/index.ts'
import { IdpClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { APP, clientOptions } from './client-options.ts'

export const client = (options: IdpClientOptions = {}): IdpClient =>
  new IdpClient({ ...clientOptions, ...options })

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

/** The request headers that the application gets after a response of the proxy; null when it gets them unchanged. */
export function forwarded(response: Response): Record<string, string> | null {
  const names = response.headers.get('x-middleware-override-headers')
  if (names === null) return null
  return Object.fromEntries(
    names.split(',').map((name) => [name, response.headers.get(`x-middleware-request-${name}`) ?? '']),
  )
}
