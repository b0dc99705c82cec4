import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK, JWTHeaderParameters } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

/** A provider with three endpoints on loopback; tests can replace every response. Shares no code with the library. */

export type EndpointKey = 'discovery' | 'jwks' | 'token'

export interface Recorded {
  readonly endpoint: EndpointKey | 'other'
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly form: URLSearchParams
}

export type Responder = (response: ServerResponse, request: Recorded) => void | Promise<void>

export interface SigningKey {
  readonly kid: string
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

const paths: Record<EndpointKey, string> = {
  discovery: '/.well-known/openid-configuration',
  jwks: '/jwks',
  token: '/token',
}

export const CLIENT_ID = 'client-1'
export const NONCE = 'nonce-of-this-login'
export const STATE = 'state-of-this-login'
export const ACCESS_TOKEN = 'access-token-1'

export const nowInSeconds = (): number => Math.floor(Date.now() / 1000)

export async function signingKey(kid: string, algorithm = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return {
    kid,
    algorithm,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' },
  }
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}

export type Claims = Record<string, unknown>

export class LocalProvider {
  readonly requests: Recorded[] = []
  readonly responders = new Map<EndpointKey, Responder>()
  /** Merged into the discovery document; undefined removes a member. */
  metadata: Record<string, unknown> = {}
  /** The keys that the JWKS endpoint publishes. */
  published: unknown[] = []
  /** Merged into the token response; undefined removes a property. */
  tokens: Record<string, unknown> = {}
  /** Creates the ID token of the next responses. */
  idToken: () => Promise<string> = (): Promise<string> => this.sign()
  /** Time of the claims it makes, seconds. */
  clock: () => number = nowInSeconds
  key: SigningKey
  issuer = ''
  readonly #server: Server = createServer((request, response) => void this.#handle(request, response))

  constructor(key: SigningKey) {
    this.key = key
    this.published = [key.publicJwk]
  }

  async start(): Promise<this> {
    // On a busy machine a client would reuse a connection that is just being closed.
    this.#server.keepAliveTimeout = 600_000
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  count(endpoint: EndpointKey): number {
    return this.requests.filter((request) => request.endpoint === endpoint).length
  }

  claims(changes: Claims = {}): Claims {
    const now = this.clock()
    const claims = { iss: this.issuer, sub: 'alice', aud: CLIENT_ID, exp: now + 3600, iat: now, nonce: NONCE }
    return Object.fromEntries(
      Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== undefined),
    )
  }

  sign(changes: Claims = {}, header: Claims = {}, key: SigningKey = this.key): Promise<string> {
    const { algorithm, kid, privateKey } = key
    const complete = Object.entries({ alg: algorithm, kid, typ: 'JWT', ...header }).filter(
      ([, value]) => value !== undefined,
    )
    return new SignJWT(this.claims(changes))
      .setProtectedHeader(Object.fromEntries(complete) as JWTHeaderParameters)
      .sign(privateKey)
  }

  document(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}${paths.token}`,
      jwks_uri: `${this.issuer}${paths.jwks}`,
      end_session_endpoint: `${this.issuer}/logout`,
      id_token_signing_alg_values_supported: ['RS256', 'ES256', 'PS256', 'EdDSA', 'HS256', 'none'],
      ...this.metadata,
    }
  }

  async tokenResponse(): Promise<Record<string, unknown>> {
    return {
      access_token: ACCESS_TOKEN,
      token_type: 'bearer',
      expires_in: 600,
      refresh_token: 'refresh-token-1',
      scope: 'openid profile',
      id_token: await this.idToken(),
      ...this.tokens,
    }
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const url = incoming.url ?? ''
    const found = (Object.keys(paths) as EndpointKey[]).find((key) => paths[key] === url.split('?')[0])
    const endpoint = found ?? 'other'
    const { headers, method = '' } = incoming
    const request = { endpoint, method, url, headers, body, form: new URLSearchParams(body) } as const
    this.requests.push(request)
    const responder = found && this.responders.get(found)
    if (responder) return responder(response, request)
    if (endpoint === 'discovery') return json(response, this.document())
    if (endpoint === 'jwks') return json(response, { keys: this.published })
    if (endpoint === 'token') return json(response, await this.tokenResponse())
    json(response, {}, 404)
  }
}
