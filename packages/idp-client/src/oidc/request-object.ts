import type { Config, SigningKey } from '../config/config.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import { importSigningKey, signClaims } from './client-auth.ts'
import { parseObject, parseObjects } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import { wireNames } from './metadata.ts'

/**
 * Authorization requests signed by the client (JWT-Secured Authorization Request, RFC 9101), and backchannel authentication
 * requests (CIBA section 7.1.1).
 */

/** The request that is signed, which decides about the metadata that name the algorithms. */
export type RequestKind = 'authorization' | 'backchannel'

const ALGORITHMS = {
  authorization: 'requestObjectAlgorithms',
  backchannel: 'backchannelRequestAlgorithms',
} as const

/** Never inside: another request object, and what would make the object usable as a client assertion (RFC 9101 section 10.8). */
const NEVER_INSIDE = ['request', 'request_uri', 'sub']

/** Parameters that are JSON or a number inside a request object, too (RFC 9101 section 4). */
const PARSED = new Map<string, (text: string) => object | number | null>([
  ['claims', parseObject],
  ['authorization_details', parseObjects],
  // Validated already: an integer.
  ['max_age', Number],
])

/** Returns the first algorithm of the key that the provider advertises for this kind of request; all, if it advertises none. */
function selectAlgorithm({ algorithm, algorithms }: SigningKey, metadata: ServerMetadata, kind: RequestKind) {
  const property = ALGORITHMS[kind]
  const advertised = metadata[property]
  const own = algorithm === undefined ? algorithms : [algorithm]
  const chosen = own.find((name) => advertised?.includes(name) ?? true)
  if (chosen !== undefined) return chosen
  const detail = `requestObject signs with ${own.join(', ')}, but the provider takes none of these (${wireNames[property]}): use another key, or another requestObject.alg.`
  throw invalidConfiguration(detail)
}

function toClaim(name: string, text: string): unknown {
  const parse = PARSED.get(name)
  if (!parse) return text
  const value = parse(text)
  if (value === null)
    throw invalidConfiguration(
      `The authorization parameter ${name} is not the JSON that a signed request needs.`,
    )
  return value
}

/** Returns the claims of the request itself. */
function toClaims(parameters: Iterable<readonly [string, string]>) {
  const inside = [...parameters].filter(([name]) => !NEVER_INSIDE.includes(name))
  return Object.fromEntries(inside.map(([name, text]) => [name, toClaim(name, text)]))
}

/**
 * Signs the parameters of a request: `typ` `oauth-authz-req+jwt`, `aud` the issuer, a lifetime of 60 s, a fresh `jti` each time.
 * Throws `InvalidConfigurationError` if key and provider have no algorithm in common, or a parameter cannot be signed.
 */
export async function signRequestObject(
  config: Pick<Config, 'clientId' | 'clock' | 'dpop'>,
  signingKey: SigningKey,
  metadata: ServerMetadata,
  {
    kind,
    parameters,
  }: { readonly kind: RequestKind; readonly parameters: Iterable<readonly [string, string]> },
): Promise<string> {
  // Ed25519 has two names; the provider gets the one that it advertised.
  const algorithm = selectAlgorithm(signingKey, metadata, kind)
  const key = await importSigningKey('requestObject.key', signingKey, algorithm)
  const claims = { ...toClaims(parameters), aud: metadata.issuer }
  return signClaims(config, { key, algorithm, keyId: signingKey.keyId }, claims, 'oauth-authz-req+jwt')
}
