import type { ProviderAddress } from './config.ts'
import { parseHttpUrl, toHint } from './http-url.ts'
import type { Source } from './readers.ts'
import { getField, invalid, notice, readFlag, readRequired } from './readers.ts'

/**
 * Plain http to the provider: never in production, which is reported, because the option would seem to work.
 */
export function resolveInsecure(source: Source, production: boolean): boolean {
  const field = getField('allowInsecureRequests', source)
  const wanted = readFlag(field)
  if (wanted && production)
    notice(field, 'has no effect in production: requests to the provider must use https')
  return wanted && !production
}

/** Returns the absolute URL of a host, `host:port` or URL; `null` for anything that is no address of a provider. */
function parseDomain(text: string): URL | null {
  return parseHttpUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
}

/**
 * Returns the address with its issuers, which are compared as strings: also as written, since a URL has no default port and no upper
 * case in its host, but issuers of some providers have.
 */
function toAddress({ origin, pathname, protocol }: URL, text: string): ProviderAddress {
  const written = `${protocol}//${text.replace(/^[a-z]+:\/\//i, '')}`
  const path = pathname.replace(/\/+$/, '')
  // With a path a trailing slash is a part of the issuer (OIDC Discovery 4.3).
  const issuers =
    path === ''
      ? [origin, written.replace(/\/+$/, '')].flatMap((host) => [`${host}/`, host])
      : [origin + pathname, written]
  return { url: origin + path, issuers: [...new Set(issuers)] }
}

export function resolveProvider(source: Source, allowInsecureRequests: boolean): ProviderAddress | undefined {
  const field = getField('domain', source)
  const given = readRequired(field, ' to the host of the provider')
  if (given === undefined) return undefined
  const text = given.trim()
  const url = parseDomain(text)
  if (!url) {
    const hint = toHint(given, 'a client has one provider, so no list')
    return invalid(field, `must be a host (tenant.example.com), host:port, or an https URL${hint}`)
  }
  if (url.pathname.includes('/.well-known/')) {
    return invalid(
      field,
      'must name the issuer, not its discovery document: drop /.well-known/ and what follows',
    )
  }
  if (url.protocol === 'http:' && !allowInsecureRequests) {
    return invalid(field, 'must use https; outside production allowInsecureRequests: true permits http')
  }
  return toAddress(url, text)
}
