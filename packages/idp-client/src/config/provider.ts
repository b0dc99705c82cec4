import type { ProviderAddress } from './config.ts'
import { parseHttpUrl, toHint } from './http-url.ts'
import type { Source } from './readers.ts'
import { getField, invalid, isSet, notice, readFlag, readText, waysToSet } from './readers.ts'

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

/** Absolute URL of a host, `host:port` or URL; null for anything that is no address of a provider. */
function parseDomain(given: string): URL | null {
  const text = given.trim()
  return parseHttpUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
}

function toAddress(url: URL): ProviderAddress {
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') return { url: url.origin, issuers: [`${url.origin}/`, url.origin] }
  // With a path there is exactly one issuer: as written, a trailing slash included (OIDC Discovery 4.3).
  return { url: `${url.origin}${path}`, issuers: [`${url.origin}${url.pathname}`] }
}

export function resolveProvider(source: Source, allowInsecureRequests: boolean): ProviderAddress | undefined {
  const field = getField('domain', source)
  const given = readText(field)
  if (given === undefined) {
    if (!isSet(field))
      source.addIssue('missing', `domain is missing: ${waysToSet(field)} to the host of the provider.`)
    return undefined
  }
  const url = parseDomain(given)
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
  return toAddress(url)
}
