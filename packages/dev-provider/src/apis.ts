import type { FactorKind } from './extensions/mfa/factors.ts'

/** An API (resource server) that access tokens can be issued for. */
export interface Api {
  /** Absolute URI; the value of the `audience` parameter and of the `aud` claim. */
  readonly audience: string
  /** Scopes that the API knows; others are never granted for it. */
  readonly scopes: readonly string[]
  /** Lifetime of its access tokens in seconds; default the setting `accessTokenTtl`. */
  readonly accessTokenTtl?: number
  /**
   * Demands a further factor of everybody who wants an access token for it: any one, or all that are named, one after
   * the other. Default false.
   */
  readonly requiresMfa?: boolean | readonly FactorKind[]
}

/** The APIs that exist unless the option `apis` names others. */
export const DEFAULT_APIS: readonly Api[] = [
  { audience: 'https://api.example.test/', scopes: ['read:things', 'write:things'] },
  { audience: 'https://orders.example.test/', scopes: ['read:orders'] },
  { audience: 'https://bank.example.test/', scopes: ['transfer:money'], requiresMfa: true },
]

/** Scopes of OpenID Connect itself, as opposed to those of an API. */
export const OIDC_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'offline_access']

export interface ApiDirectory {
  all(): readonly Api[]
  find(audience: string): Api | undefined
  add(api: Api): void
}

export function createApiDirectory(initial: readonly Api[]): ApiDirectory {
  const apis = new Map<string, Api>(initial.map((api) => [api.audience, api]))
  return {
    all: () => [...apis.values()],
    find: (audience) => apis.get(audience),
    add: (api) => {
      apis.set(api.audience, api)
    },
  }
}
