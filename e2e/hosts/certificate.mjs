import { deepEqual, equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { startDevProvider } from '../../packages/dev-provider/dist/index.js'
import { secret } from './host.mjs'

const APP = 'http://localhost:3000'
const AUDIENCE = 'https://api.example.test/'

/** Starts a provider that asks for certificates, and returns what `support/certificate.mjs` needs. */
async function startProvider() {
  const provider = await startDevProvider({ host: '127.0.0.1', mtls: true })
  const clientId = 'bank-app'
  await provider.addClient({
    clientId,
    tokenEndpointAuthMethod: 'tls_client_auth',
    requireCertificateBinding: true,
    apps: [APP],
  })
  const issue = () => provider.mtls.issue({ subject: `CN=${clientId}` })
  const authorizationParameters = { audience: AUDIENCE, scope: 'openid offline_access read:things' }
  const settings = {
    api: provider.mtls.api,
    ca: provider.ca,
    identities: [await issue(), await issue()],
    options: { domain: provider.issuer, clientId, secret, appBaseUrl: APP, authorizationParameters },
  }
  return { provider, settings }
}

/**
 * Logs in with a TLS certificate in a runtime, and calls an API with the bound token, before and after a rotation.
 *
 * @param {string} runtime
 * @param {{ program: string, args: string[], cwd: string }} command
 */
export async function logInByCertificate(runtime, { args, cwd, program }) {
  const { provider, settings } = await startProvider()
  const env = { ...process.env, CERTIFICATES: JSON.stringify(settings) }
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const read = async () => (await lines.next()).value
    const { location } = await provider.login(await read(), { user: 'alice' })
    child.stdin.write(`${location}\n`)
    const { after, before, ...result } = JSON.parse(await read())
    deepEqual(result, { runtime, status: 302 })
    for (const { body, method, status } of [before, after])
      deepEqual({ body, method, status }, { body: 'the body', method: 'POST', status: 200 })
    const grants = provider.requests('token').map(({ body }) => body['grant_type'])
    deepEqual(grants, ['authorization_code', 'refresh_token'])
    equal(provider.requests('certificate-api').length, 3)
  } finally {
    child.kill()
    await provider.stop()
  }
}
