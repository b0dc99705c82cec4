import { randomBytes } from 'node:crypto'
import type { RegisteredClient } from './clients.ts'

export interface EnvironmentSource {
  readonly issuer: string
  readonly client: RegisteredClient
  readonly appBaseUrl: string | undefined
  readonly caPath: string | undefined
}

/** Variables that an application needs to use this provider; `IDP_SECRET` is new each time. */
export function toEnvironment(source: EnvironmentSource): Record<string, string> {
  const { client } = source
  return {
    IDP_DOMAIN: source.issuer,
    IDP_CLIENT_ID: client.clientId,
    ...(client.clientSecret === undefined ? {} : { IDP_CLIENT_SECRET: client.clientSecret }),
    ...(client.privateKey === undefined ? {} : { IDP_CLIENT_ASSERTION_SIGNING_KEY: client.privateKey }),
    ...(client.privateKeyAlg === undefined ? {} : { IDP_CLIENT_ASSERTION_SIGNING_ALG: client.privateKeyAlg }),
    IDP_SECRET: randomBytes(32).toString('hex'),
    ...(source.appBaseUrl === undefined ? {} : { APP_BASE_URL: source.appBaseUrl }),
    ...(source.caPath === undefined ? {} : { NODE_EXTRA_CA_CERTS: source.caPath }),
  }
}
