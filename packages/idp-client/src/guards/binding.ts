import { isLoopback } from '../config/base-url.ts'
import type { ClientCertificate, ResourceConfig } from '../config/resource.ts'
import { constantTimeEqual, hashToken } from '../crypto/random.ts'
import type { ApiEngine, Application, Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { text, utf8 } from '../lib/utf8.ts'
import type { TokenBinding } from '../oidc/access-token-claims.ts'
import { verifyDpopProof } from '../oidc/dpop-proof.ts'
import type { Scheme } from './rejection.ts'
import { takeProof } from './used-proofs.ts'

/** Proofs that the sender of a token has what the token is bound to. */

/** A verified token as it was sent. */
interface SentToken {
  readonly scheme: Scheme
  readonly token: string
  readonly binding: TokenBinding | undefined
  readonly resource: ResourceConfig
}

/** Seconds for which a nonce is accepted. */
const NONCE_LIFETIME = 300

function refuse(detail: string): never {
  throw new IdpError('INVALID_TOKEN', { detail })
}

/** Returns a nonce for DPoP proofs: the sealed time, which every process with the same `secret` accepts. */
export async function newNonce({ config, sealer }: Engine): Promise<string> {
  return sealer.seal('dpop-nonce', utf8(String(config.clock())))
}

/** Throws `USE_DPOP_NONCE` unless the nonce of a proof is one of this application that is recent. */
async function checkNonce({ config, sealer }: Engine, nonce: unknown): Promise<void> {
  const opened = typeof nonce === 'string' ? await sealer.open('dpop-nonce', nonce) : null
  const age = opened ? config.clock() - Number(text(opened)) : Number.NaN
  // The clocks of two processes may differ, too.
  if (!(Math.abs(age) <= NONCE_LIFETIME)) throw new IdpError('USE_DPOP_NONCE')
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '')

/**
 * Returns the URLs that a proof may name: below the configured base URL and the URL of the API, with and without a prefix that a
 * proxy has removed. A base URL that is inferred from the request would let its sender choose them.
 */
function provenUrls(engine: ApiEngine, exchange: Exchange, { url }: ResourceConfig): readonly string[] {
  const { appBaseUrl, production } = engine.config
  const base = engine.baseUrl(exchange)
  // Some runtimes do not say that they are in production; in development the host is this machine.
  const isChosenBySender = appBaseUrl.kind === 'inferred' && (production || !isLoopback(new URL(base).host))
  if (isChosenBySender && url === undefined) {
    const detail =
      'DPoP proofs name the URL of the API: set appBaseUrl (APP_BASE_URL), or resource of idp.resource(), which they are compared with.'
    throw invalidConfiguration(detail)
  }
  const bases = [...(isChosenBySender ? [] : [base]), ...(url === undefined ? [] : [url])]
  const { pathname = '/' } = exchange.request.url ?? {}
  return bases.flatMap((each) => [new URL(each).origin + pathname, withoutSlash(each) + pathname])
}

async function checkKey(
  application: Application,
  exchange: Exchange,
  sent: SentToken,
  thumbprint: string,
): Promise<void> {
  const { resource, scheme, token: accessToken } = sent
  if (scheme !== 'DPoP') refuse('It is bound to a key and needs the scheme DPoP.')
  const engine = application.apiEngine()
  const { headers, method } = exchange.request
  const urls = provenUrls(engine, exchange, resource)
  const request = { proof: headers.get('dpop'), method, urls, accessToken, thumbprint }
  const { name, nonce } = await verifyDpopProof(engine.config, request)
  if (resource.dpopNonce) await checkNonce(application.engine(), nonce)
  // Last: a proof that is refused for another reason is not used up.
  if (!(await takeProof(engine, exchange, name)))
    throw new IdpError('INVALID_DPOP_PROOF', { detail: 'It was used before: every request needs a new one.' })
}

const PEM = /-----BEGIN CERTIFICATE-----([\w+/=\s]+)-----END CERTIFICATE-----/

/** Returns the DER bytes of a certificate; `null` if it is not one. */
function toDer(certificate: ClientCertificate): Uint8Array<ArrayBuffer> | null {
  if (certificate instanceof Uint8Array) return certificate.length > 0 ? new Uint8Array(certificate) : null
  // A proxy that appends to the header of the sender instead of replacing it makes a list.
  if (typeof certificate !== 'string' || certificate.includes(',')) return null
  const base64 = PEM.exec(certificate)?.[1]?.replace(/\s+/g, '')
  try {
    return base64 ? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)) : null
  } catch {
    return null
  }
}

async function checkCertificate(
  { request: { headers, method, url } }: Exchange,
  { clientCertificate }: ResourceConfig,
  thumbprint: string,
): Promise<void> {
  if (!clientCertificate)
    return refuse('It is bound to a certificate, which the option clientCertificate of the resource returns.')
  const der = toDer(await clientCertificate({ headers, method, url }))
  if (!der) return refuse('It is bound to a certificate, and the request has none.')
  const own = await hashToken(der, 32)
  if (!constantTimeEqual(own, thumbprint))
    refuse('It is bound to another certificate than that of the request.')
}

/**
 * Checks that the sender has what its token is bound to, and that a token that is bound to nothing is sent as such. Throws
 * `INVALID_TOKEN`, `INVALID_DPOP_PROOF` and `USE_DPOP_NONCE`.
 */
export function checkBinding(
  application: Application,
  exchange: Exchange,
  sent: SentToken,
): MaybePromise<void> {
  const { binding, resource, scheme } = sent
  if (binding?.method === 'jkt') return checkKey(application, exchange, sent, binding.thumbprint)
  if (scheme === 'DPoP') refuse('It is not bound to a key, but its scheme is DPoP.')
  return binding && checkCertificate(exchange, resource, binding.thumbprint)
}
