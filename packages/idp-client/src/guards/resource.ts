import type { ResourceConfig, ResourceOptions } from '../config/resource.ts'
import { checkAudience, checkNeeds, checkPath, readResource } from '../config/resource.ts'
import type { Application } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { defined } from '../lib/objects.ts'
import { isForAudience, isTime } from '../oidc/claims.ts'
import type { Auth } from './auth.ts'

/** Returns the audiences of ID tokens; none while the configuration is incomplete, when the first request checks them. */
function idTokenAudiences(application: Application): readonly string[] {
  try {
    return application.apiEngine().config.idTokenAudiences
  } catch {
    return []
  }
}

/** The caller, in the form that servers of the MCP SDK take as `authInfo`. */
export interface McpAuthInfo {
  readonly token: string
  readonly clientId: string
  readonly scopes: string[]
  /** Seconds since the epoch. */
  readonly expiresAt?: number
  /** The URL of the API. */
  readonly resource?: URL
  readonly extra: { readonly sub: string }
}

/**
 * An API of the application that access tokens of the provider protect. `idp.resource()` creates it; guards take it in `accept`.
 */
export class Resource<Scope extends string = string, Claims extends object = object> {
  /** Always absent: from its type guards infer those of `scope` and `auth.claims`. */
  declare readonly types?: { readonly scope: Scope; readonly claims: Claims }
  /** @internal */
  readonly config: ResourceConfig
  /** @internal The client that created it. */
  readonly application: Application

  /** @internal */
  constructor(application: Application, options: ResourceOptions<Scope>) {
    const { resources, settings } = application
    this.config = readResource(options, settings)
    this.application = application
    checkNeeds(this.config, settings)
    checkAudience(this.config, idTokenAudiences(application))
    const { metadata } = this.config
    if (metadata) {
      checkPath(metadata, resources.get(metadata.path))
      resources.set(metadata.path, this.config)
    }
  }

  /** The identifier of the API, which `aud` of its access tokens contains. */
  get audience(): string {
    return this.config.audience
  }

  /**
   * Returns a caller in the form that the MCP SDK hands to tools as `authInfo`, with `sub` in `extra`. Throws `INVALID_TOKEN` for a
   * session, for a token that names no client, and for one of another resource.
   */
  authInfo(auth: Auth): McpAuthInfo {
    if (auth.kind !== 'token' || auth.clientId === undefined)
      throw new IdpError('INVALID_TOKEN', { detail: 'authInfo needs an access token that names its client.' })
    const { claims, clientId, scope, sub, token } = auth
    const { audience, url } = this.config
    if (Object.hasOwn(claims, 'aud') && !isForAudience(claims, audience))
      throw new IdpError('INVALID_TOKEN', { detail: 'authInfo got a token for another resource.' })
    return defined({
      token,
      clientId,
      scopes: scope.split(' ').filter(Boolean),
      expiresAt: isTime(claims['exp']) ? claims['exp'] : undefined,
      resource: url === undefined ? undefined : new URL(url),
      extra: { sub },
    })
  }
}
