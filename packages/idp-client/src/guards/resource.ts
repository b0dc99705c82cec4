import type { ResourceConfig, ResourceOptions } from '../config/resource.ts'
import { checkAudience, checkPath, readResource } from '../config/resource.ts'
import type { Application } from '../engine.ts'

/** Returns the client id; `undefined` while the configuration is incomplete, when the first request checks the audience. */
function configuredClientId(application: Application): string | undefined {
  try {
    return application.engine().config.clientId
  } catch {
    return undefined
  }
}

/**
 * An API of the application that access tokens of the provider protect. `idp.resource()` creates it; guards take it in `accept`.
 */
export class Resource {
  /** @internal */
  readonly config: ResourceConfig
  /** @internal The client that created it. */
  readonly application: Application

  /** @internal */
  constructor(application: Application, options: ResourceOptions) {
    const { resources, settings } = application
    this.config = readResource(options, settings)
    this.application = application
    const clientId = configuredClientId(application)
    if (clientId !== undefined) checkAudience(this.config, clientId)
    const { metadata } = this.config
    if (metadata) {
      checkPath(metadata, resources.get(metadata.path))
      resources.set(metadata.path, this.config)
    }
  }

  /** The identifier of the API, which `aud` of its access tokens contains. */
  get audience(): string {
    return this.config.audience
  }
}
