import type { DPoPHandle } from 'oauth4webapi'
import { DPoP, modifyAssertion } from 'oauth4webapi'
import type { Config } from '../config/config.ts'
import { signJwt } from '../crypto/es256.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import { lazy } from '../lib/lazy.ts'
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
  /** The thumbprint of the key that tokens are bound to; undefined without `useDPoP`. */
  thumbprint(): Promise<string | undefined>
  /**
   * Returns a new proof for one request to an API, with the latest nonce of its origin. Every request needs its own, also
   * a retry.
   */
  prove(request: ResourceRequest): Promise<string>
  /** Remembers the nonce that a response of an API carries, and returns it. */
  learn(url: URL, response: Response): string | null
}

/** Maximum number of origins whose latest nonce is remembered. */
const MAX_ORIGINS = 100

async function createHandle(config: Config): Promise<DpopHandle> {
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

export function createDpop(config: Config): Dpop {
  const handle = lazy(() => createHandle(config))
  const nonces = new Lru<string, string>(MAX_ORIGINS)

  return {
    handle,
    thumbprint: async () => (config.dpop.enabled ? (await handle()).thumbprint : undefined),

    async prove({ accessToken, method, url, nonce = nonces.get(url.origin) }) {
      const { keys } = await handle()
      const claims = {
        jti: randomToken(16),
        htm: method,
        htu: `${url.origin}${url.pathname}`,
        iat: serverTime(config),
        ath: await hashToken(accessToken, 32),
        ...(nonce === undefined ? {} : { nonce }),
      }
      return signJwt({ alg: 'ES256', typ: 'dpop+jwt', jwk: keys.jwk }, claims, keys.privateKey)
    },

    learn({ origin }, response) {
      const nonce = response.headers.get('dpop-nonce')
      if (!nonce) return null
      nonces.set(origin, nonce)
      return nonce
    },
  }
}

/** Whether a response demands a nonce in the proof: in its JSON (`body`) or by the challenge of RFC 9449 section 9. */
export function isNonceChallenge(response: Response, body: JsonObject | null): boolean {
  if (response.status < 400 || response.status >= 500) return false
  return (
    body?.['error'] === 'use_dpop_nonce' ||
    challengeParameter(response.headers.get('www-authenticate') ?? '', 'dpop', 'error') === 'use_dpop_nonce'
  )
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
