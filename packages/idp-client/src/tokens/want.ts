import type { AuthorizationConfig } from '../config/config.ts'
import { unitedScope } from './scope.ts'

/** Options of `getAccessToken`. */
export interface GetAccessTokenOptions {
  /**
   * Refresh even if the token is still valid; default false. The old token is then never returned: a refresh that fails
   * throws `FAILED_TO_REFRESH_TOKEN`, and without a refresh token it is `MISSING_REFRESH_TOKEN`.
   */
  refresh?: boolean
  /** Scope that the token must have, space-delimited. */
  scope?: string
  /** API that the token is for; default the one of the login. Further ones need the provider's refresh-token policy. */
  audience?: string
  /** Whether `scope` is added to the configured one (default) or stands alone. */
  mergeScopes?: boolean
}

/** What a caller wants a token for, with everything that the configuration adds. */
export interface Want {
  /** Undefined: whatever the login was for. */
  readonly audience?: string
  readonly scope: string
  /** What goes into the refresh request: only what the caller named (RFC 6749 section 6). */
  readonly sent: { readonly audience?: string; readonly scope?: string }
  readonly force: boolean
  /** Nothing was named: the token of the login is meant, whatever it was asked for with. */
  readonly plain: boolean
  /** The token is kept in this process, and not in the session. */
  readonly inProcess?: true
}

function configuredScope({ scope }: AuthorizationConfig, audience: string | undefined): string {
  if (scope.kind === 'text') return scope.scope
  return audience === undefined ? '' : (scope.byAudience.get(audience) ?? '')
}

export function wantOf(config: AuthorizationConfig, options: GetAccessTokenOptions): Want {
  const audience = options.audience ?? config.audience
  const merged = options.mergeScopes ?? true
  const scope = merged
    ? unitedScope(configuredScope(config, audience), options.scope)
    : unitedScope(options.scope)
  return {
    ...(audience === undefined ? {} : { audience }),
    scope,
    sent: {
      ...(options.audience === undefined ? {} : { audience: options.audience }),
      ...(options.scope === undefined ? {} : { scope }),
    },
    force: options.refresh ?? false,
    plain: options.audience === undefined && options.scope === undefined,
  }
}

/** The want that a context was kept for; what was not named then means what the configuration says. */
export function wantAgain(config: AuthorizationConfig, { scope, sent }: Pick<Want, 'scope' | 'sent'>): Want {
  const audience = sent.audience ?? config.audience
  return {
    ...(audience === undefined ? {} : { audience }),
    scope,
    sent,
    force: false,
    plain: sent.audience === undefined && sent.scope === undefined,
  }
}
