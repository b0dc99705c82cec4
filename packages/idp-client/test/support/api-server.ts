import { createHash, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { DevProvider } from 'idp-dev-provider'
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  decodeProtectedHeader,
  EmbeddedJWK,
  jwtVerify,
} from 'jose'

export const AUDIENCE = 'https://api.example.test/'

/** A request that an API received. */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface ApiResponse {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

export type ApiHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

export interface ApiServer {
  readonly origin: string
  readonly requests: ApiRequest[]
  stop(): Promise<void>
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** A real server on a free port of this machine. */
export async function startApi(handler: ApiHandler): Promise<ApiServer> {
  const requests: ApiRequest[] = []
  const server = createServer(async (incoming, response) => {
    const { headers, method = '', url: path = '' } = incoming
    const request = { method, path, headers, body: await textOf(incoming) }
    requests.push(request)
    const received = await handler(request)
    response.writeHead(received.status ?? 200, received.headers).end(received.body)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the API listens nowhere')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * `any`: one that was issued, however often; `once`: each for one request only; `current`: one for all callers, replaced
 * by the next when a request used it; `third`: not before the third request;
 * `never`: even its own are refused; `unsaid`: wants one and names none.
 */
export type NoncePolicy = 'off' | 'any' | 'once' | 'current' | 'third' | 'never' | 'unsaid'

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

class Refusal extends Error {}

/** A resource server by RFC 6750 and RFC 9449: verifies tokens of the provider, and proofs where tokens are bound. */
export function protectedApi(
  provider: DevProvider,
  { nonces = 'off' }: { nonces?: NoncePolicy } = {},
): ApiHandler {
  const issued = new Set<string>()
  const seen = new Set<string>()
  let current = randomUUID()
  const today = (): Date => new Date(provider.clock.now() * 1000)

  function newNonce(): string {
    if (nonces === 'current') return current
    const nonce = randomUUID()
    issued.add(nonce)
    return nonce
  }

  function takeNonce(nonce: unknown): boolean {
    if (nonces === 'off') return true
    if (nonces === 'never' || nonces === 'unsaid' || typeof nonce !== 'string') return false
    if (nonces === 'current') {
      const isCurrent = nonce === current
      if (isCurrent) current = randomUUID()
      return isCurrent
    }
    if (nonces === 'third' && issued.size < 2) return false
    return nonces === 'once' ? issued.delete(nonce) : issued.has(nonce)
  }

  async function checkProof(request: ApiRequest, token: string, jkt: unknown): Promise<'good' | 'nonce'> {
    const proof = String(request.headers['dpop'])
    const { jwk = {} } = decodeProtectedHeader(proof)
    if (Object.keys(jwk).sort().join() !== 'crv,kty,x,y') throw new Refusal('jwk is not a bare public key')
    const { payload } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
      currentDate: today(),
    })
    const { ath, htm, htu, iat = 0, jti = '', nonce } = payload
    const target = new URL(request.path, `http://${request.headers.host}`)
    if (htm !== request.method) throw new Refusal('htm')
    if (htu !== target.origin + target.pathname) throw new Refusal('htu')
    if (ath !== digest(token)) throw new Refusal('ath')
    if (Math.abs(iat - provider.clock.now()) > 60) throw new Refusal('iat')
    if (jti.length < 16 || seen.has(jti)) throw new Refusal('jti')
    seen.add(jti)
    if ((await calculateJwkThumbprint(jwk)) !== jkt) throw new Refusal('another key')
    return takeNonce(nonce) ? 'good' : 'nonce'
  }

  async function verify(request: ApiRequest): Promise<{ sub: unknown } | { refusal: ApiResponse }> {
    const [, scheme = '', token = ''] =
      /^(Bearer|DPoP) (\S+)$/.exec(request.headers.authorization ?? '') ?? []
    const keys = createLocalJWKSet(await provider.jwks())
    const { payload } = await jwtVerify(token, keys, {
      issuer: provider.issuer,
      audience: AUDIENCE,
      currentDate: today(),
    })
    const { jkt } = (payload['cnf'] ?? {}) as { jkt?: unknown }
    if ((jkt === undefined) !== (scheme === 'Bearer')) throw new Refusal('scheme')
    if (jkt === undefined) {
      if (request.headers['dpop'] !== undefined) throw new Refusal('a proof beside a bearer token')
      return { sub: payload.sub }
    }
    if ((await checkProof(request, token, jkt)) === 'good') return { sub: payload.sub }
    const headers = {
      'www-authenticate': 'Bearer error="invalid_token", dpop algs="ES256", error="use_dpop_nonce"',
    }
    const challenge = nonces === 'unsaid' ? headers : { ...headers, 'dpop-nonce': newNonce() }
    return { refusal: { status: 401, headers: challenge } }
  }

  return async (request) => {
    try {
      const verified = await verify(request)
      if ('refusal' in verified) return verified.refusal
      const { sub } = verified
      const { body, method, path } = request
      return {
        headers: nonces === 'off' ? {} : { 'dpop-nonce': newNonce() },
        body: JSON.stringify({ sub, method, path, body }),
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      return { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' }, body: reason }
    }
  }
}
