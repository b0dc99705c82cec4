import type { ApiConfig, Config } from '../../config/config.ts'
import { providerFetch } from '../../oidc/call.ts'
import type { JsonObject } from '../../oidc/json.ts'
import { parseObject, stringList } from '../../oidc/json.ts'
import type { ServerMetadata } from '../../oidc/metadata.ts'
import { discoveryUrl, hasAlias, readMetadata, requireAlias, requireEndpoint } from '../../oidc/metadata.ts'
import type { KeySet } from '../../oidc/signed-token.ts'
import { hasKeyFor, readKeySet } from '../../oidc/signed-token.ts'
import type { DocumentRequest } from '../../oidc/translate.ts'
import { discoveryError, unusableDocument } from '../../oidc/translate.ts'
import { coversScope } from '../../session/model/scope.ts'
import { withOfferedScope } from '../../tokens/offered-scope.ts'
import { OFFLINE_ACCESS } from '../../tokens/token-request.ts'
import { effectiveScope } from '../../transaction/authorization.ts'
import type { Findings } from './findings.ts'
import { find, findThrown } from './findings.ts'

/** The metadata of the provider, and what is wrong with it. */
export interface Discovered {
  readonly findings: Findings
  /** Absent if the document cannot be used. */
  readonly metadata?: ServerMetadata
}

/** A document with the difference of the clocks, in seconds: positive if that of the provider is ahead. */
interface Loaded<T> {
  readonly value: T
  readonly difference: number | undefined
}

/** Caches of content delivery networks keep the time at which they stored a response, and add its age. */
function toServerTime(headers: Headers): number | undefined {
  const date = Date.parse(headers.get('date') ?? '')
  const age = Number(headers.get('age') ?? 0)
  return Number.isFinite(date) && Number.isFinite(age) ? date / 1000 + age : undefined
}

async function load<T>(
  config: ApiConfig,
  request: DocumentRequest & { readonly address: string },
  read: (text: string) => T,
): Promise<Loaded<T>> {
  const { address, ...document } = request
  try {
    const { response, text } = await providerFetch(config)(address, {
      headers: { accept: 'application/json' },
    })
    if (response.status !== 200) throw unusableDocument(document, response.status)
    const time = toServerTime(response.headers)
    return { value: read(text), difference: time === undefined ? undefined : time - config.clock() }
  } catch (thrown) {
    throw discoveryError(document, thrown)
  }
}

/** A `Date` header has no fractions, and the response took its time. */
const CLOCK_SLACK = 3

function checkClock({ dpop }: ApiConfig, difference: number | undefined): Findings {
  if (difference === undefined) return []
  const beyond = Math.abs(difference - dpop.clockSkew)
  if (beyond <= dpop.clockTolerance + CLOCK_SLACK) return []
  const direction = difference > 0 ? 'ahead of' : 'behind'
  const seconds = Math.round(Math.abs(difference))
  return find(
    'CLOCKS_DIFFER',
    `According to its Date header, the clock of the provider is ${seconds} s ${direction} that of this machine.`,
  )
}

/** Endpoints that every client with sessions uses. */
const REQUIRED = ['authorizationEndpoint', 'tokenEndpoint', 'jwksUri'] as const

function checkEndpoints(metadata: ServerMetadata, config: Config | undefined): Findings {
  const needed = [...(config ? REQUIRED : (['jwksUri'] as const))]
  const withUserInfo = config?.fetchUserInfo ? [...needed, 'userinfoEndpoint' as const] : needed
  return withUserInfo.flatMap((name) => {
    try {
      if (config && hasAlias(metadata, name, config))
        requireAlias(metadata, name, config.allowInsecureRequests)
      else requireEndpoint(metadata, name)
      return []
    } catch (error) {
      return findThrown(error)
    }
  })
}

function checkAlgorithms(
  metadata: ServerMetadata,
  keys: KeySet,
  config: ApiConfig & Partial<Config>,
): Findings {
  const { idTokenAlgorithms: advertised } = metadata
  if (advertised.length === 0)
    return find(
      'ID_TOKEN_ALGORITHM_UNSUPPORTED',
      'id_token_signing_alg_values_supported in the metadata lists no algorithm that this library accepts.',
    )
  const { idTokenAlgorithms: configured } = config
  const unlisted = configured?.find((name) => !advertised.includes(name))
  if (unlisted !== undefined)
    return find(
      'ID_TOKEN_ALGORITHM',
      `idTokenSignedResponseAlg is ${unlisted}, which the metadata does not list (id_token_signing_alg_values_supported).`,
    )
  return (configured ?? advertised).some((algorithm) => hasKeyFor(keys, algorithm))
    ? []
    : find('ID_TOKEN_SIGNATURE', 'No published key (jwks_uri) fits an algorithm of the ID tokens.')
}

async function checkKeys(metadata: ServerMetadata, config: ApiConfig): Promise<Findings> {
  const { jwksUri } = metadata
  if (jwksUri === undefined) return []
  try {
    const { value: keys } = await load(config, { endpoint: 'jwks', address: jwksUri }, readKeySet)
    return checkAlgorithms(metadata, keys, config)
  } catch (error) {
    return findThrown(error)
  }
}

function checkPar(config: Config, metadata: ServerMetadata): Findings {
  const { pushedAuthorizationRequests } = config
  const isOffered = metadata.parEndpoint !== undefined || hasAlias(metadata, 'parEndpoint', config)
  if (pushedAuthorizationRequests && !isOffered)
    return find(
      'PAR_NOT_OFFERED',
      'pushedAuthorizationRequests is true, but the metadata has no usable pushed_authorization_request_endpoint.',
    )
  if (!pushedAuthorizationRequests && metadata.requirePar)
    return find(
      'PAR_REQUIRED',
      'The provider accepts pushed authorization requests only (require_pushed_authorization_requests), and pushedAuthorizationRequests is off.',
    )
  return []
}

function checkDpop({ dpop }: Config, document: JsonObject): Findings {
  const algorithms = stringList(document, 'dpop_signing_alg_values_supported')
  if (!dpop.enabled || algorithms?.includes('ES256')) return []
  return algorithms
    ? find('DPOP_PROOF_REFUSED', 'useDPoP is on, but dpop_signing_alg_values_supported lacks ES256.')
    : find('DPOP_NOT_ENABLED', 'useDPoP is on, but the metadata has no dpop_signing_alg_values_supported.')
}

function checkResponseType(document: JsonObject): Findings {
  const types = stringList(document, 'response_types_supported')
  if (!types || types.includes('code')) return []
  return find('CLIENT_NOT_ALLOWED', 'response_types_supported in the metadata lacks code.')
}

/** A scope that asks for refresh tokens has no effect where there is no grant for them. */
function checkRefresh(
  { authorization, log }: Config,
  metadata: ServerMetadata,
  document: JsonObject,
): Findings {
  const grants = stringList(document, 'grant_types_supported')
  if (!grants || grants.includes('refresh_token')) return []
  const { audience } = authorization
  const scope = effectiveScope(withOfferedScope({ authorization, log }, metadata), audience)
  if (!coversScope(scope, OFFLINE_ACCESS)) return []
  return find(
    'MISSING_REFRESH_TOKEN',
    'The scope has offline_access, but grant_types_supported in the metadata lacks refresh_token.',
  )
}

/** Checks what the client needs, as far as the metadata tells. */
function checkFeatures(config: Config, metadata: ServerMetadata, document: JsonObject): Findings {
  return [
    ...checkRefresh(config, metadata, document),
    ...checkResponseType(document),
    ...checkPar(config, metadata),
    ...checkDpop(config, document),
  ]
}

/** Loads metadata and keys, and compares them with the configuration. */
export async function discover(apiConfig: ApiConfig, config: Config | undefined): Promise<Discovered> {
  const url = discoveryUrl(apiConfig.provider)
  const request = { endpoint: 'discovery', url, address: url } as const
  try {
    const loaded = await load(apiConfig, request, (text) => {
      const document = parseObject(text)
      if (!document) throw unusableDocument(request, 200)
      return { document, metadata: readMetadata(document, apiConfig) }
    })
    const { document, metadata } = loaded.value
    const findings = [
      ...checkClock(apiConfig, loaded.difference),
      ...checkEndpoints(metadata, config),
      ...(await checkKeys(metadata, config ?? apiConfig)),
      ...(config ? checkFeatures(config, metadata, document) : []),
    ]
    return { findings, metadata }
  } catch (error) {
    return { findings: findThrown(error) }
  }
}
