import type { JWK } from 'jose'
import { JWSSignatureVerificationFailed } from 'jose/errors'
import { CompactSign } from 'jose/jws/compact/sign'
import { compactVerify } from 'jose/jws/compact/verify'
import { exportJWK } from 'jose/key/export'
import { importPKCS8, importSPKI } from 'jose/key/import'
import type { DPoPHandle } from 'oauth4webapi'
import { DPoP, modifyAssertion } from 'oauth4webapi'
import type { Config, DpopKeys } from '../config/config.ts'
import type { DpopKeyPair } from '../config/options.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { Lru } from '../lib/lru.ts'
import { lazy } from '../lib/request-scope.ts'
import { utf8 } from '../lib/utf8.ts'
import { serverTime } from './claims.ts'
import type { JsonObject } from './json.ts'

/**
 * Proof of possession (DPoP, RFC 9449): one pair of keys per client, and two memories of nonces, since a nonce of the
 * authorization server means nothing to an API, not even on the same origin.
 */

interface ImportedKeys extends DpopKeyPair {
  /** The public key as embedded in proofs. */
  readonly jwk: JWK
}

/** The keys with which a client proves its possession. */
interface DpopHandle {
  /** RFC 7638 thumbprint of the public key, for `dpop_jkt`. */
  readonly thumbprint: string
  /** For endpoints of the authorization server. */
  readonly server: DPoPHandle
  /** For the UserInfo endpoint, a protected resource. */
  readonly resource: DPoPHandle
  readonly keys: ImportedKeys
}

export interface ResourceRequest {
  readonly method: string
  readonly url: URL
  readonly accessToken: string
  /** Default: the latest nonce of the origin. */
  readonly nonce?: string
}

/** The proofs of one client. Everything throws `InvalidConfigurationError` without usable keys. */
export interface Dpop {
  /** The one handle of the client, whether or not `useDPoP` is on. */
  handle(): Promise<DpopHandle>
  /**
   * Returns a new proof for one request to an API, with the latest nonce of its origin. Every request needs its own, also
   * a retry.
   */
  prove(request: ResourceRequest): Promise<string>
  /** Remembers the nonce that a response of an API carries, and returns it. */
  learn(url: URL, response: Response): string | null
}

/** The algorithm of proofs, on the curve P-256 (RFC 7518 section 3.4). */
const ALGORITHM = 'ES256'

/** Maximum number of origins whose latest nonce is remembered. */
const MAX_ORIGINS = 100

const MISSING =
  'DPoP needs a key pair: set dpopKeyPair, or both IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY.'

function unusable(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'DPOP_KEYS' })
}

function sign(payload: string, privateKey: CryptoKey, header: object = {}): Promise<string> {
  return new CompactSign(utf8(payload)).setProtectedHeader({ alg: ALGORITHM, ...header }).sign(privateKey)
}

async function load(keys: DpopKeys): Promise<DpopKeyPair> {
  if (keys.kind === 'pair') return keys
  if (keys.kind === 'pem')
    return {
      publicKey: await importSPKI(keys.publicKey, ALGORITHM),
      privateKey: await importPKCS8(keys.privateKey, ALGORITHM),
    }
  throw unusable(MISSING)
}

/** Imports and tests the keys. Throws `InvalidConfigurationError` if they are missing, unusable or not a pair. */
export async function importDpopKeys(keys: DpopKeys): Promise<ImportedKeys> {
  const names =
    keys.kind === 'pem' ? 'IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY' : 'The two keys of dpopKeyPair'
  try {
    const { privateKey, publicKey } = await load(keys)
    const jwk = await exportJWK(publicKey)
    await compactVerify(await sign('idp-client', privateKey), jwk)
    return { publicKey, privateKey, jwk }
  } catch (error) {
    if (error instanceof InvalidConfigurationError) throw error
    if (error instanceof JWSSignatureVerificationFailed) throw unusable(`${names} are not one pair.`)
    // The runtime's own error is dropped: it may quote the key.
    throw unusable(`${names} cannot be used as ES256 keys (elliptic curve P-256).`)
  }
}

async function createHandle(config: Config): Promise<DpopHandle> {
  const keys = await importDpopKeys(config.dpop.keys)
  const onProviderTime = {
    [modifyAssertion]: (_header: unknown, payload: Record<string, unknown>) => {
      payload['iat'] = serverTime(config)
    },
  }
  const [server, resource] = [DPoP({}, keys, onProviderTime), DPoP({}, keys, onProviderTime)] as const
  return { thumbprint: await server.calculateThumbprint(), server, resource, keys }
}

export function createDpop(config: Config): Dpop {
  const handle = lazy(() => createHandle(config))
  const nonces = new Lru<string, string>(MAX_ORIGINS)

  return {
    handle,

    async prove({ accessToken, method, url, nonce = nonces.get(url.origin) }) {
      const { keys } = await handle()
      const claims = {
        jti: randomToken(16),
        htm: method,
        htu: `${url.origin}${url.pathname}`,
        iat: serverTime(config),
        ath: await hashToken(accessToken, 32),
        nonce,
      }
      return sign(JSON.stringify(claims), keys.privateKey, { typ: 'dpop+jwt', jwk: keys.jwk })
    },

    learn({ origin }, response) {
      const nonce = response.headers.get('dpop-nonce')
      if (!nonce) return null
      nonces.set(origin, nonce)
      return nonce
    },
  }
}

/*
 * The name of a scheme, or of a parameter with its value (RFC 9110 section 11.2). A quoted string may lack its end: so the pattern
 * never backtracks, and untrusted headers are read in linear time.
 */
const CHALLENGE_PART =
  /([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.?)*)"?|([!#$%&'*+.^_`|~\w-]*)))?/g

/**
 * Returns the `error` of each scheme that a response demands by `WWW-Authenticate` (RFC 9110 section 11.6.1), by the scheme in lower
 * case: why a resource refuses an access token (RFC 6750 section 3, RFC 9449 section 7.1).
 */
export function challengeErrors(headers: Headers): ReadonlyMap<string, string> {
  const errors = new Map<string, string>()
  let scheme = ''
  const header = headers.get('www-authenticate') ?? ''
  for (const [, word = '', quoted, plain] of header.matchAll(CHALLENGE_PART)) {
    const value = plain ?? quoted?.replaceAll(/\\(.?)/g, '$1')
    if (value === undefined) scheme = word.toLowerCase()
    else if (word.toLowerCase() === 'error' && !errors.has(scheme)) errors.set(scheme, value)
  }
  return errors
}

/**
 * Returns why a resource refuses an access token, by each scheme, or by none, as the example of OpenID Connect Core section 5.3.3 and
 * the providers that follow it.
 */
export function tokenErrors(headers: Headers): readonly string[] {
  const errors = challengeErrors(headers)
  return ['bearer', 'dpop', ''].flatMap((scheme) => errors.get(scheme) || [])
}

/** Whether a response demands a nonce in the proof: in its JSON (`body`) or by the challenge of RFC 9449 section 9. */
export function isNonceChallenge({ headers, status }: Response, body: JsonObject | null): boolean {
  if (status < 400 || status >= 500) return false
  const error = 'use_dpop_nonce'
  return body?.['error'] === error || challengeErrors(headers).get('dpop') === error
}

/** Returns whether an API says that it takes another token only (RFC 6750 section 3.1). */
export function refusesToken({ headers, status }: Response): boolean {
  if (status !== 401) return false
  return tokenErrors(headers).includes('invalid_token')
}

/** The longest delay before a second retry, as a multiple of the configured one; it doubles with every further retry. */
const SECOND_DELAY = 8

/** Returns a random number, 0 included and 1 excluded. */
function random(): number {
  const [value = 0] = crypto.getRandomValues(new Uint16Array(1))
  return value / 0x1_00_00
}

/**
 * Returns the delay before a retry that a nonce challenge causes, in milliseconds.
 *
 * With `jitter`, half to all of the configured delay before the first retry. A later retry has lost its nonce to a
 * parallel call: half of these are sent at once, while their nonce is fresh, and the others after a random time of up to
 * 8, 16 and 32 times the delay, so that the calls do not meet again.
 */
export function nonceRetryDelay({ dpop }: Pick<Config, 'dpop'>, retry = 1): number {
  const { delay, jitter } = dpop.retry
  if (!jitter) return delay
  if (retry === 1) return delay * (0.5 + random() / 2)
  return random() < 0.5 ? 0 : random() * delay * SECOND_DELAY * 2 ** (retry - 2)
}
