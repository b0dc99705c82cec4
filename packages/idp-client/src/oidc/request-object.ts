import type { AuthorizationServer } from 'oauth4webapi'
import { issueRequestObject, modifyAssertion } from 'oauth4webapi'
import type { Config, SigningKey } from '../config/config.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { lazy } from '../lib/request-scope.ts'
import { clientMetadata, importSigningKey } from './client-auth.ts'
import { parseObject, parseObjects } from './json.ts'
import type { ServerMetadata } from './metadata.ts'

/**
 * Authorization requests signed by the client (JWT-Secured Authorization Request, RFC 9101), and backchannel authentication
 * requests (CIBA section 7.1.1).
 */

/** The request that is signed, which decides about the metadata that name the algorithms. */
export type RequestKind = 'authorization' | 'backchannel'

const ALGORITHMS = {
  authorization: ['requestObjectAlgorithms', 'request_object_signing_alg_values_supported'],
  backchannel: [
    'backchannelRequestAlgorithms',
    'backchannel_authentication_request_signing_alg_values_supported',
  ],
} as const

/** Never inside: another request object, and what would make the object usable as a client assertion (RFC 9101 section 10.8). */
const NEVER_INSIDE = ['request', 'request_uri', 'sub']

/** Parameters that are JSON inside a request object, too (RFC 9101 section 4). */
const JSON_PARAMETERS: readonly (readonly [string, (text: string) => object | null])[] = [
  ['claims', parseObject],
  ['authorization_details', parseObjects],
]

function unusable(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/** Returns the first algorithm of the key that the provider advertises for this kind of request; all, if it advertises none. */
function selectAlgorithm({ algorithm, algorithms }: SigningKey, metadata: ServerMetadata, kind: RequestKind) {
  const [property, wireName] = ALGORITHMS[kind]
  const advertised = metadata[property]
  const own = algorithm === undefined ? algorithms : [algorithm]
  const chosen = own.find((name) => advertised?.includes(name) ?? true)
  if (chosen !== undefined) return chosen
  const detail = `requestObject signs with ${own.join(', ')}, but the provider takes none of these (${wireName}): use another key, or another requestObject.alg.`
  throw unusable(detail)
}

/** The imported keys by algorithm: importing one costs more than signing with it. */
const imported = new WeakMap<SigningKey, Map<string, () => Promise<CryptoKey>>>()

function importOnce(signingKey: SigningKey, algorithm: string): Promise<CryptoKey> {
  const keys = imported.get(signingKey) ?? new Map<string, () => Promise<CryptoKey>>()
  imported.set(signingKey, keys)
  const load =
    keys.get(algorithm) ?? lazy(() => importSigningKey('requestObject.key', signingKey.key, algorithm))
  keys.set(algorithm, load)
  return load()
}

function checkJson(parameters: URLSearchParams): void {
  for (const [name, parse] of JSON_PARAMETERS) {
    const text = parameters.get(name)
    if (text !== null && parse(text) === null)
      throw unusable(`The authorization parameter ${name} is not the JSON that a signed request needs.`)
  }
}

/**
 * Signs the parameters of a request: `typ` `oauth-authz-req+jwt`, `aud` the issuer, a lifetime of 60 s, a fresh `jti` each time.
 * Throws `InvalidConfigurationError` if key and provider have no algorithm in common, or a parameter cannot be signed.
 */
export async function signRequestObject(
  config: Pick<Config, 'clientId' | 'clock' | 'dpop'>,
  signingKey: SigningKey,
  metadata: ServerMetadata,
  { kind, parameters }: { readonly kind: RequestKind; readonly parameters: URLSearchParams },
): Promise<string> {
  const algorithm = selectAlgorithm(signingKey, metadata, kind)
  const key = await importOnce(signingKey, algorithm)
  const signed = new URLSearchParams([...parameters].filter(([name]) => !NEVER_INSIDE.includes(name)))
  checkJson(signed)
  const { keyId } = signingKey
  const server: AuthorizationServer = { issuer: metadata.issuer }
  return issueRequestObject(
    server,
    clientMetadata(config),
    signed,
    keyId === undefined ? key : { key, kid: keyId },
    {
      // Ed25519 has two names; the provider gets the one that it advertised.
      [modifyAssertion]: (header, claims) => {
        header['alg'] = algorithm
        if (kind === 'backchannel') delete claims['client_id']
      },
    },
  )
}
