import type { ProviderAddress } from './config.ts'
import type { Env } from './env.ts'
import { hintFor, parseHttpUrl } from './http-url.ts'
import type { IdpClientOptions } from './options.ts'
import type { Note } from './readers.ts'
import { field, isSet, readFlag, readText, refuse, waysToSet } from './readers.ts'

/** Plain http to the provider: never in production, and said so, since the option would otherwise seem to work. */
export function resolveInsecure(options: IdpClientOptions, production: boolean, note: Note): boolean {
  const wanted = readFlag(field('allowInsecureRequests', options.allowInsecureRequests), note) ?? false
  if (wanted && production) {
    note(
      'notice',
      'allowInsecureRequests has no effect in production: requests to the provider must use https.',
    )
  }
  return wanted && !production
}

/** Absolute URL of a host, `host:port` or URL; null for anything that is no address of a provider. */
function parseDomain(given: string): URL | null {
  const text = given.trim()
  return parseHttpUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
}

function addressOf(url: URL): ProviderAddress {
  const path = url.pathname.replace(/\/+$/, '')
  if (path === '') return { url: url.origin, issuers: [`${url.origin}/`, url.origin] }
  // With a path there is exactly one issuer: as written, a trailing slash included (OIDC Discovery 4.3).
  return { url: `${url.origin}${path}`, issuers: [`${url.origin}${url.pathname}`] }
}

export function resolveProvider(
  options: IdpClientOptions,
  env: Env,
  allowInsecureRequests: boolean,
  note: Note,
): ProviderAddress | undefined {
  const setting = field('domain', options.domain, env, 'IDP_DOMAIN')
  const given = readText(setting, note)
  if (given === undefined) {
    if (!isSet(setting))
      note('missing', `domain is missing: ${waysToSet(setting)} to the host of the provider.`)
    return undefined
  }
  const url = parseDomain(given)
  if (!url) {
    const hint = hintFor(given, 'a client has one provider, so no list')
    return refuse(setting, note, `must be a host (tenant.example.com), host:port, or an https URL${hint}`)
  }
  if (url.pathname.includes('/.well-known/')) {
    return refuse(
      setting,
      note,
      'must name the issuer, not its discovery document: drop /.well-known/ and what follows',
    )
  }
  if (url.protocol === 'http:' && !allowInsecureRequests) {
    return refuse(
      setting,
      note,
      'must use https; outside production allowInsecureRequests: true permits http',
    )
  }
  return addressOf(url)
}
