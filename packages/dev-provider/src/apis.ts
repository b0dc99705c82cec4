import { DevProviderError } from './error.ts'
import type { FactorKind } from './extensions/mfa/factors.ts'

/** An API (resource server) that access tokens can be issued for. */
export interface Api {
  /** Absolute URI; the value of the `audience` parameter and of the `aud` claim. */
  readonly audience: string
  /** Scopes that the API knows; others are never granted for it. */
  readonly scopes: readonly string[]
  /** Form of its access tokens: a `jwt` (default), or `opaque`, which the API introspects (RFC 7662). */
  readonly tokenFormat?: 'jwt' | 'opaque'
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

/** Returns the description of `invalid_target`: which audiences exist, and how to add one. */
export function describeUnknownAudience(apis: ApiDirectory): string {
  const known = apis.all().map(({ audience }) => audience)
  return `the audience is not a registered API. Registered: ${known.join(', ')}. Add it with --api on the command line, addApi() in a test.`
}

const EXAMPLE = 'for example --api https://api.example.com/=read:orders,write:orders'

/** A scope token of RFC 6749, section 3.3, without the comma that separates scopes here. */
const SCOPE = /^[!#-+\--[\]-~]+$/

/**
 * Parses APIs in the form `AUDIENCE[=SCOPE,...]`, as the command line takes them.
 *
 * @throws DevProviderError if an audience or a scope is invalid or repeated
 */
export function parseApis(texts: readonly string[]): Api[] {
  const apis = texts.map(parseApi)
  const repeated = findRepeated(apis.map(({ audience }) => audience))
  if (repeated === undefined) return apis
  throw new DevProviderError(`--api ${repeated} is repeated. List all scopes once, ${EXAMPLE}.`)
}

function parseApi(text: string): Api {
  const [audience = '', ...rest] = text.split('=')
  if (!/^[^\s?#]+$/.test(audience) || !URL.canParse(audience)) {
    throw new DevProviderError(
      `--api ${text}: the audience must be an absolute URI without spaces, query and fragment, ${EXAMPLE}.`,
    )
  }
  const scopes = rest.length === 0 ? [] : rest.join('=').split(',')
  if (!scopes.every((scope) => SCOPE.test(scope))) {
    throw new DevProviderError(
      `--api ${text}: separate scopes by single commas, without spaces and empty scopes, ${EXAMPLE}.`,
    )
  }
  const repeated = findRepeated(scopes)
  if (repeated !== undefined) throw new DevProviderError(`--api ${text}: the scope ${repeated} is repeated.`)
  return { audience, scopes }
}

function findRepeated(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index)
}
