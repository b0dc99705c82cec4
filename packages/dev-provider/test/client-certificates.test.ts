import { request } from 'node:https'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClientCertificate, ClientOptions, DevProvider, MutualTls } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'

const AUDIENCE = 'https://api.example.test/'

let provider: DevProvider
let mtls: MutualTls
let certificate: ClientCertificate

beforeAll(async () => {
  provider = await startDevProvider({ host: '127.0.0.1', mtls: true })
  if (!provider.mtls) throw new TypeError('It asks for no certificate.')
  mtls = provider.mtls
  certificate = await mtls.issue({ subject: 'CN=app, O=Bank' })
})
afterAll(() => provider.stop())

interface Sent {
  readonly form?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly identity?: Pick<ClientCertificate, 'cert' | 'key'> | undefined
}

interface Received {
  readonly status: number | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly challenge: string | undefined
}

function send(url: string, { form, headers, identity }: Sent): Promise<Received> {
  const type = form && { 'content-type': 'application/x-www-form-urlencoded' }
  const options = { method: form ? 'POST' : 'GET', ca: provider.ca, headers: { ...type, ...headers } }
  return new Promise((resolve, reject) => {
    request(url, { ...options, ...identity, agent: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      resolve({ status: response.statusCode, body, challenge: response.headers['www-authenticate'] })
    })
      .on('error', reject)
      .end(form && new URLSearchParams(form).toString())
  })
}

/** Requests a token by the client credentials grant. */
async function requestToken(options: ClientOptions, identity: Sent['identity']): Promise<Received> {
  const { clientId } = await provider.addClient(options)
  const form = { client_id: clientId, grant_type: 'client_credentials', resource: AUDIENCE }
  return send(`${mtls.origin}/oauth/token`, { form, identity })
}

const byCa: ClientOptions = {
  tokenEndpointAuthMethod: 'tls_client_auth',
  certificateSubject: 'O=Bank, CN=app',
  requireCertificateBinding: true,
}

const invalidClient = { status: 401, body: expect.objectContaining({ error: 'invalid_client' }) }

describe('certificates of clients (RFC 8705)', () => {
  test('the metadata names the endpoints of the listener that asks for one', async () => {
    const { body } = await send(`${provider.issuer}/.well-known/openid-configuration`, {})
    expect(body).toMatchObject({
      token_endpoint: `${provider.issuer}/oauth/token`,
      tls_client_certificate_bound_access_tokens: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining([
        'tls_client_auth',
        'self_signed_tls_client_auth',
      ]),
      mtls_endpoint_aliases: {
        token_endpoint: `${mtls.origin}/oauth/token`,
        userinfo_endpoint: `${mtls.origin}/userinfo`,
      },
    })
  })

  test('without the option nothing of it is there', async () => {
    const plain = await startDevProvider({ host: '127.0.0.1' })
    const response = await fetch(`${plain.issuer}/.well-known/openid-configuration`)
    const metadata = JSON.stringify(await response.json())
    await plain.stop()
    expect(plain.mtls).toBeUndefined()
    expect(metadata).not.toMatch(/mtls|tls_client/)
  })

  test.each<[string, ClientOptions, () => Promise<ClientCertificate | undefined>]>([
    ['no certificate', byCa, async () => undefined],
    ['another subject', byCa, () => mtls.issue({ subject: 'CN=app' })],
    ['no authority', byCa, () => mtls.issue({ subject: 'CN=app, O=Bank', selfSigned: true })],
    ['one that has expired', byCa, () => mtls.issue({ subject: 'CN=app, O=Bank', days: -1 })],
    [
      'one that is not registered',
      {
        tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
        jwks: { keys: [] },
      },
      () => mtls.issue({ selfSigned: true }),
    ],
  ])('a client with %s is refused', async (_, options, issue) => {
    const certificates =
      options.tokenEndpointAuthMethod === 'self_signed_tls_client_auth' ? [certificate.cert] : []
    expect(await requestToken({ ...options, certificates }, await issue())).toMatchObject(invalidClient)
  })

  test.each<[string, () => ClientOptions]>([
    ['the CA', () => byCa],
    [
      'itself',
      () => ({
        tokenEndpointAuthMethod: 'self_signed_tls_client_auth',
        certificates: [certificate.cert],
        requireCertificateBinding: true,
      }),
    ],
  ])('a certificate known by %s binds tokens, which the API takes with it only', async (_, options) => {
    const { body, status } = await requestToken(options(), certificate)
    expect(status).toBe(200)
    const token = String(body['access_token'])
    expect(decodeJwt(token)['cnf']).toEqual({ 'x5t#S256': certificate.thumbprint })
    const headers = { authorization: `Bearer ${token}` }
    expect(await send(mtls.api, { headers, identity: certificate })).toMatchObject({ status: 200 })
    for (const identity of [undefined, await mtls.issue()]) {
      expect(await send(mtls.api, { headers, identity })).toMatchObject({
        status: 401,
        challenge: 'Bearer error="invalid_token"',
      })
    }
    expect(await send(mtls.api, { identity: certificate })).toMatchObject({
      status: 401,
      challenge: 'Bearer',
    })
  })

  test.each<[DevProvider['settings']['certificateBinding'], (cnf: unknown) => void]>([
    ['none', (cnf) => expect(cnf).toBeUndefined()],
    ['other', (cnf) => expect(cnf).not.toEqual({ 'x5t#S256': certificate.thumbprint })],
  ])('with certificateBinding=%s the API takes no token', async (binding, check) => {
    provider.settings.certificateBinding = binding
    const { body } = await requestToken(byCa, certificate)
    provider.settings.certificateBinding = 'right'
    const token = String(body['access_token'])
    check(decodeJwt(token)['cnf'])
    const headers = { authorization: `Bearer ${token}` }
    expect(await send(mtls.api, { headers, identity: certificate })).toMatchObject({ status: 401 })
  })
})
