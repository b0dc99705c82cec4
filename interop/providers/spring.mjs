import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { apis } from '../applications/apis.mjs'
import { packageSpring } from '../support/maven.mjs'
import { cacheFolder, freePort, startProgram, untilResponding } from '../support/program.mjs'

const user = { username: 'alice', password: 'correct horse battery staple' }

/** Features that this server lacks, each with its proof; `metadata` is its discovery document. */
const lacks = {
  certificate: { reason: 'keys of clients are registered as the URL of a JWKS' },
  'client certificates': { reason: 'TLS ends in front of the server, which here demands no certificates' },
  'signed requests': {
    reason: 'no signed authorization requests',
    shows: (metadata) => metadata.request_object_signing_alg_values_supported === undefined,
  },
  EdDSA: {
    reason: 'tokens and assertions are signed with RS, PS and ES algorithms',
    shows: (metadata) => !metadata.id_token_signing_alg_values_supported.includes('EdDSA'),
  },
  acr: { reason: 'no acr_values', shows: (metadata) => metadata.acr_values_supported === undefined },
  max_age: { reason: 'max_age has no effect' },
  'prompt=login': { reason: 'prompt=login has no effect' },
  'back-channel logout': {
    reason: 'no logout notifications',
    shows: (metadata) => metadata.backchannel_logout_supported === undefined,
  },
  'detection of reuse': { reason: 'a second use of a refresh token is rejected, and ends nothing' },
  'administration of sessions': { reason: 'no administration of sessions' },
  ciba: {
    reason: 'no backchannel authentication',
    shows: (metadata) => metadata.backchannel_authentication_endpoint === undefined,
  },
  roles: { reason: 'no roles' },
  'earlier ID tokens': { reason: 'a logout accepts the latest ID token only' },
}

const scopes = ['openid', 'profile', 'email', ...Object.values(apis).flatMap((api) => api.scopes)]

/** Publishes the keys of clients, since the server only takes the URL of a JWKS. */
async function startPublisher() {
  const documents = []
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json').end(documents[Number(request.url?.slice(1))])
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  return {
    publish: (jwks) => `http://127.0.0.1:${port}/${documents.push(JSON.stringify(jwks)) - 1}`,
    stop: () => server.close(),
  }
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body ?? {}) })
  const text = await response.text()
  if (!response.ok) throw new Error(`Spring: ${url} returned ${response.status}: ${text.slice(0, 300)}`)
  return text === '' ? null : JSON.parse(text)
}

/** Actions of an administrator, through the endpoints of `InteropController`. */
function administrator(origin, publisher) {
  return {
    async addClient({ accessTokenSeconds = 300, algorithm, jwks, jwksUrl, secret, ...wanted }) {
      const published = jwksUrl ?? (jwks && publisher.publish(jwks))
      const keys = published ? { jwksUrl: published, assertionAlgorithm: algorithm } : { secret }
      const registration = { ...wanted, accessTokenSeconds, scopes, ...keys }
      return (await post(`${origin}/interop/clients`, registration)).clientId
    },
    setAccessTokenSeconds: (clientId, accessTokenSeconds) =>
      post(`${origin}/interop/clients/${clientId}`, { accessTokenSeconds }),
    setGroups: (clientId, groups) => post(`${origin}/interop/clients/${clientId}/groups`, groups),
    rotateKeys: () => post(`${origin}/interop/keys`),
  }
}

/** Spring Authorization Server as in `interop/spring`. */
export async function startSpring({ key, certificate }) {
  const archive = await packageSpring()
  const data = join(cacheFolder, 'spring-data')
  rmSync(data, { recursive: true, force: true })
  const port = await freePort()
  const origin = `https://127.0.0.1:${port}`
  const publisher = await startPublisher()
  const settings = {
    'server.port': port,
    'server.ssl.certificate': `file:${certificate}`,
    'server.ssl.certificate-private-key': `file:${key}`,
    'spring.datasource.url': `jdbc:h2:file:${join(data, 'database')}`,
    'interop.keys': join(data, 'keys.json'),
    'interop.issuer': origin,
    'interop.user': user.username,
    'interop.password': user.password,
  }
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  let program
  async function start() {
    program = startProgram('java', ['-Xmx256m', '-jar', archive, ...args])
    await untilResponding(program, `${origin}/.well-known/openid-configuration`)
  }
  await start()
  return {
    name: 'spring',
    title: 'Spring Authorization Server 1.5.3 in Spring Boot 3.5.7',
    issuer: origin,
    user,
    lacks,
    audience: 'https://orders.example.com/',
    ...administrator(origin, publisher),
    start,
    pause: () => program.stop(),
    async stop() {
      publisher.stop()
      await program.stop('SIGKILL')
    },
  }
}
