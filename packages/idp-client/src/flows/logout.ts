import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { endSessionUrl, v2LogoutUrl } from '../oidc/end-session.ts'
import { providerFor } from '../oidc/provider.ts'
import type { SessionData } from '../session/session-data.ts'

export interface LogoutInput {
  /** Target after logout as the visitor gave it; the provider's allow-list decides about it. */
  readonly returnTo?: string
  readonly state?: string
  readonly federated: boolean
  readonly correlationId: string
}

interface Target {
  readonly strategy: 'oidc' | 'v2' | 'local'
  readonly location: string
}

/** The visitor's target as an absolute http(s) URL; what is none becomes the base URL. */
function targetOf(returnTo: string | undefined, baseUrl: string): URL {
  const base = new URL(baseUrl)
  if (returnTo === undefined || !URL.canParse(returnTo, base)) return base
  const target = new URL(returnTo, base)
  return target.protocol === 'https:' || target.protocol === 'http:' ? target : base
}

/** Where the browser goes when only the local session ends: never off the application's origin. */
function localTarget(target: URL, baseUrl: string): string {
  return target.origin === new URL(baseUrl).origin ? target.href : baseUrl
}

async function oidcTarget(
  engine: Engine,
  returnTo: string,
  session: SessionData | undefined,
  input: LogoutInput,
): Promise<URL | null> {
  const idToken = engine.config.includeIdTokenHint ? session?.tokenSet.idToken : undefined
  const sid = session?.internal.sid
  return endSessionUrl(providerFor(engine.config), {
    returnTo,
    federated: input.federated,
    ...(input.state === undefined ? {} : { state: input.state }),
    ...(idToken === undefined ? {} : { idTokenHint: idToken }),
    ...(sid === undefined ? {} : { logoutHint: sid }),
  })
}

async function decide(
  engine: Engine,
  baseUrl: string,
  session: SessionData | undefined,
  input: LogoutInput,
): Promise<Target> {
  const { config } = engine
  const target = targetOf(input.returnTo, baseUrl)
  // Sent as it was given (only made absolute): the provider compares it as text, and allows wildcards with `v2`.
  const returnTo = input.returnTo === undefined ? baseUrl : target.href
  const v2 = (): Target => ({
    strategy: 'v2',
    location: v2LogoutUrl(config, { returnTo, federated: input.federated }).href,
  })
  if (config.logoutStrategy === 'v2') return v2()
  try {
    const url = await oidcTarget(engine, returnTo, session, input)
    if (url) return { strategy: 'oidc', location: url.href }
    if (config.logoutStrategy === 'auto') {
      config.log.once(
        'The provider offers no RP-initiated logout: /v2/logout is used (logoutStrategy: auto).',
      )
      return v2()
    }
    config.log.once(
      'logoutStrategy is oidc, but the provider offers no RP-initiated logout: only the local session ends.',
    )
  } catch (error) {
    const code = isIdpError(error) ? error.code : 'INTERNAL_ERROR'
    config.log.emit({ level: 'warn', code: 'REQUEST_FAILED', id: input.correlationId, error: code })
  }
  return { strategy: 'local', location: localTarget(target, baseUrl) }
}

/**
 * Ends the local session and says where the browser goes to end the provider's.
 * 1. The session is read for the hints.
 * 2. The target is composed; a provider that cannot be reached never keeps anybody logged in here.
 * 3. The session and every transaction are deleted.
 */
export async function logout(engine: Engine, exchange: Exchange, input: LogoutInput): Promise<string> {
  const baseUrl = engine.baseUrl(exchange)
  const session = await engine.sessions.load(exchange)
  const { strategy, location } = await decide(engine, baseUrl, session?.data, input)
  await engine.sessions.destroy(exchange)
  engine.transactions.clearAll(exchange)
  engine.config.log.emit({ level: 'info', code: 'LOGOUT', id: input.correlationId, strategy })
  return location
}
