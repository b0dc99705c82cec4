import { allFeatures } from '../../all-features.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { createApplication } from '../../engine.ts'
import { WebClient } from './web-client.ts'

/**
 * OpenID Connect for hosts with Web `Request` and `Response`. Construct it once per process; it holds no state of any
 * user. Operations without a request need the scope that `middleware(request, next)` opens (`AMBIENT_REQUEST_MISSING`
 * otherwise); all others need the request, and the response or headers for cookies.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 */
export class IdpClient extends WebClient {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(createApplication(options, { features: allFeatures }))
  }
}
