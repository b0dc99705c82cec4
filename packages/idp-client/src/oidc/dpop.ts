import { SignJWT } from 'jose/jwt/sign'
import type { DPoPHandle } from 'oauth4webapi'
import { DPoP, modifyAssertion } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import { Lru } from '../lib/lru.ts'
import { challengeParameter } from './challenge.ts'
import type { ImportedKeys } from './dpop-keys.ts'
import { importDpopKeys } from './dpop-keys.ts'
import type { JsonObject } from './json.ts'
import { serverTime } from './server-time.ts'

/**
 * Proof of possession (DPoP, RFC 9449): one pair of keys per client, and two memories of nonces, since a nonce of the
 * authorization server means nothing to an API, not even on the same origin.
 */

/** The keys with which a client proves its possession. */
export interface DpopHandle {
  /** RFC 7638 thumbprint of the public key, for `dpop_jkt`. */
  readonly thumbprint: string
  /** For endpoints of the authorization server. */
  readonly server: DPoPHandle
  /** For the UserInfo endpoint, a protected resource. */
  readonly resource: DPoPHandle
  readonly keys: ImportedKeys
}

/** Origins whose latest nonce is remembered. */
const ORIGINS = 100

const handles = new WeakMap<Config, Promise<DpopHandle>>()
const resourceNonces = new WeakMap<Config, Lru<string, string>>()

async function create(config: Config): Promise<DpopHandle> {
  const keys = await importDpopKeys(config.dpop.keys)
  const onProviderTime = {
    [modifyAssertion]: (_header: unknown, payload: Record<string, unknown>) => {
      payload['iat'] = serverTime(config)
    },
  }
  return {
    thumbprint: keys.thumbprint,
    server: DPoP({}, keys, onProviderTime),
    resource: DPoP({}, keys, onProviderTime),
    keys,
  }
}

/** The one handle of a client, whether or not `useDPoP` is on. Throws `InvalidConfigurationError` without usable keys. */
export function dpopHandle(config: Config): Promise<DpopHandle> {
  const handle = handles.get(config) ?? create(config)
  handles.set(config, handle)
  return handle
}

/**
 * Returns the thumbprint of the key that tokens are bound to; undefined without `useDPoP`. Throws
 * `InvalidConfigurationError`.
 */
export async function dpopThumbprint(config: Config): Promise<string | undefined> {
  return config.dpop.enabled ? (await dpopHandle(config)).thumbprint : undefined
}

export interface ResourceRequest {
  readonly method: string
  readonly url: URL
  readonly accessToken: string
  /** Default: the latest nonce of the origin. */
  readonly nonce?: string
}

/**
 * A fresh proof for one request to an API, with the latest nonce of its origin. Every sending needs its own, also that
 * of a retry. Throws `InvalidConfigurationError` when there are no usable keys.
 */
export async function protectedResourceProof(config: Config, request: ResourceRequest): Promise<string> {
  const { keys } = await dpopHandle(config)
  const { accessToken, method, url, nonce = resourceNonces.get(config)?.get(url.origin) } = request
  const claims = {
    jti: randomToken(16),
    htm: method,
    htu: `${url.origin}${url.pathname}`,
    iat: serverTime(config),
    ath: await hashToken(accessToken, 32),
    ...(nonce === undefined ? {} : { nonce }),
  }
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: keys.jwk })
    .sign(keys.privateKey)
}

/** Remembers the nonce that a response of an API carries, and returns it. */
export function learnNonce(config: Config, url: URL, response: Response): string | null {
  const nonce = response.headers.get('dpop-nonce')
  if (!nonce) return null
  const known = resourceNonces.get(config) ?? new Lru<string, string>(ORIGINS)
  resourceNonces.set(config, known)
  known.set(url.origin, nonce)
  return nonce
}

/** Whether a response demands a nonce in the proof: in its JSON (`body`) or by the challenge of RFC 9449 section 9. */
export function isNonceChallenge(response: Response, body: JsonObject | null): boolean {
  if (response.status < 400 || response.status >= 500) return false
  return (
    body?.['error'] === 'use_dpop_nonce' ||
    challengeParameter(response.headers.get('www-authenticate') ?? '', 'dpop', 'error') === 'use_dpop_nonce'
  )
}

/** Milliseconds to wait before the retry that a nonce challenge causes: the configured ones, or half to all of them. */
export function nonceRetryDelay({ dpop }: Pick<Config, 'dpop'>): number {
  const { delay, jitter } = dpop.retry
  if (!jitter) return delay
  const [random = 0] = crypto.getRandomValues(new Uint8Array(1))
  return delay * (0.5 + random / 510)
}
