import type { Config } from '../config/config.ts'
import type { PublicJwk } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { perObject } from '../lib/registry.ts'
import { lazy } from '../lib/request-scope.ts'
import { toPublicKeys } from '../oidc/public-keys.ts'

/** The public keys of the client (JWK Set, RFC 7517 section 5). */
export interface PublicJwks {
  keys: PublicJwk[]
}

const loader = perObject((config: Config) => lazy(() => toPublicKeys(config)))

/** Returns the public keys of the client, which are read once. Throws `InvalidConfigurationError`. */
export async function getJwks({ config }: Engine): Promise<PublicJwks> {
  const keys = await loader(config)()
  return { keys: keys.map((key) => ({ ...key })) }
}
