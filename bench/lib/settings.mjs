// Configuration of all products, in this process and in the servers that it starts.
import { randomBytes } from 'node:crypto'

export const origin = 'https://app.example.com'
export const issuer = 'https://idp.example.com'
export const client = { id: 'client-0123456789', secret: 'a-client-secret-of-some-length' }
export const scope = 'openid profile email offline_access'

/** A server gets the secret of the process that starts it, so that it accepts cookies of logins there. */
export const secret = process.env.BENCH_SECRET ?? randomBytes(32).toString('hex')

/** Options of idp-client. */
export const settings = {
  domain: new URL(issuer).host,
  clientId: client.id,
  clientSecret: client.secret,
  secret,
  appBaseUrl: origin,
}

/** Environment of the servers: the variables that each product reads. */
export const variables = {
  BENCH_SECRET: secret,
  APP_BASE_URL: origin,
  IDP_DOMAIN: new URL(issuer).host,
  IDP_CLIENT_ID: client.id,
  IDP_CLIENT_SECRET: client.secret,
  IDP_SECRET: secret,
  AUTH0_DOMAIN: new URL(issuer).host,
  AUTH0_CLIENT_ID: client.id,
  AUTH0_CLIENT_SECRET: client.secret,
  AUTH0_SECRET: secret,
}
