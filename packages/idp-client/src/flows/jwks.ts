import type { Config } from '../config/config.ts'
import type { PublicJwk } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { lazy } from '../lib/request-scope.ts'
import { toPublicKeys } from '../oidc/public-keys.ts'

/** The public keys of the client (JWK Set, RFC 7517 section 5). */
export interface PublicJwks {
  keys: PublicJwk[]
}

const loaded = new WeakMap<Config, () => Promise<readonly PublicJwk[]>>()

/** Returns the public keys of the client, which are read once. Throws `InvalidConfigurationError`. */
export async function getJwks({ config }: Engine): Promise<PublicJwks> {
  const load = loaded.get(config) ?? lazy(() => toPublicKeys(config))
  loaded.set(config, load)
  const keys = await load()
  return { keys: keys.map((key) => ({ ...key })) }
}
