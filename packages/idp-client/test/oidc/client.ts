import type { Config } from '../../src/config/config.ts'
import { resolve } from '../../src/config/resolve.ts'
import { CallbackError } from '../../src/errors/callback.ts'
import { OAuthError } from '../../src/errors/provider.ts'
import type { LogEvent } from '../../src/log/log.ts'
import { createLog } from '../../src/log/log.ts'
import type { Provider } from '../../src/oidc/provider.ts'
import { createProvider } from '../../src/oidc/provider.ts'
import type { CodeExchange, TokenGrant } from '../../src/oidc/token-endpoint.ts'
import { exchangeCode } from '../../src/oidc/token-endpoint.ts'
import { CLIENT_ID, NONCE } from './local-provider.ts'

/** A complete configuration. Its own fetch function keeps the caches of the process apart between tests. */
export function configOf(issuer: string, changes: Partial<Config> = {}): Config {
  const options = {
    domain: 'op.example',
    clientId: CLIENT_ID,
    clientSecret: SECRET,
    secret: '0123456789abcdef0123456789abcdef',
    appBaseUrl: 'https://app.example',
    logger: () => {},
  }
  const { config, problems } = resolve(options, {})
  if (!config) throw new Error(problems.map(({ message }) => message).join('\n'))
  return {
    ...config,
    provider: { url: issuer.replace(/\/$/, ''), issuers: [issuer] },
    allowInsecureRequests: true,
    httpTimeout: 20_000,
    fetch: (input, init) => fetch(input, init),
    ...changes,
  }
}

export function providerOf(issuer: string, changes: Partial<Config> = {}): Provider {
  return createProvider(configOf(issuer, changes))
}

/** A log that keeps its events. */
export function recordingLog(): Config['log'] & { readonly events: LogEvent[] } {
  const events: LogEvent[] = []
  return { events, ...createLog((event) => events.push(event)) }
}

/** With characters that HTTP Basic must encode (RFC 6749 section 2.3.1). */
export const SECRET = 's e:cret/ä'

export const REDIRECT_URI = 'https://app.example/auth/callback'

export function exchange(provider: Provider, changes: Partial<CodeExchange> = {}): Promise<TokenGrant> {
  return exchangeCode(provider, {
    callback: new Map([['code', 'code-1']]),
    redirectUri: REDIRECT_URI,
    codeVerifier: 'verifier-verifier-verifier-verifier-verifier-1',
    nonce: NONCE,
    startedAt: provider.config.clock(),
    ...changes,
  })
}

/** Returns the rejection of `promise`; fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => ({ rejected: false as const }),
    (error: unknown) => ({ rejected: true as const, error }),
  )
  if (!outcome.rejected) throw new Error('expected a rejection')
  return outcome.error
}

/** The callback error of a failed exchange together with its cause. */
export async function refused(
  promise: Promise<unknown>,
): Promise<{ error: CallbackError; cause: OAuthError }> {
  const error = await rejection(promise)
  if (!(error instanceof CallbackError)) throw error
  if (!(error.cause instanceof OAuthError))
    throw new Error('expected an OAuthError as cause', { cause: error })
  return { error, cause: error.cause }
}

/** Everything that a logger or console would print of an error, causes and own properties included. */
export function printed(error: unknown): string {
  const seen: unknown[] = []
  const walk = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return String(value)
    if (seen.includes(value)) return ''
    seen.push(value)
    const names = Object.getOwnPropertyNames(value)
    return names.map((name) => `${name}=${walk(Reflect.get(value, name))}`).join('\n')
  }
  return walk(error)
}
