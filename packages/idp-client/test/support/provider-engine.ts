import type { DevProvider, DevProviderOptions } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { Engine } from '../../src/engine.ts'
import { createApplication } from '../../src/engine.ts'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { APP } from './app.ts'
import { SECRET } from './engine.ts'
import { PATIENT } from './timeouts.ts'

export interface Realm {
  readonly provider: DevProvider
  readonly events: LogEvent[]
  /** An engine of an application of this provider, as a host entry would compose it. */
  engine(options?: IdpClientOptions): Engine
}

/** A provider, for flows that need no browser. */
export async function startRealm(providerOptions: DevProviderOptions = {}): Promise<Realm> {
  const provider = await startDevProvider({ host: '127.0.0.1', ...providerOptions })
  const events: LogEvent[] = []
  const defaults: IdpClientOptions = {
    domain: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    httpTimeout: PATIENT,
    logger: (event) => events.push(event),
  }
  return {
    provider,
    events,
    engine: (options = {}) => createApplication({ ...defaults, ...options }).engine(),
  }
}

/** Returns the rejection of a promise; fails if it resolves. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof Error) return outcome as Error & Record<string, unknown>
  throw new Error('expected a rejection with an Error')
}
