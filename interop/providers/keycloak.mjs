import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { clientAuthority, oneTimePassword } from '../support/credentials.mjs'
import { unpackArtifact } from '../support/maven.mjs'
import { freePort, startProgram, until, untilResponding } from '../support/program.mjs'
import { AUDIENCE, apiScopes, newerKey, REALM, realm, user } from './keycloak-realm.mjs'

const VERSION = '26.4.7'
const admin = { username: 'admin', password: 'interop-admin' }

/** The administration interface of a running Keycloak. */
function administration(origin) {
  let token = { value: '', expiresAt: 0 }

  async function currentToken() {
    if (token.expiresAt > Date.now()) return token.value
    const body = new URLSearchParams({ client_id: 'admin-cli', grant_type: 'password', ...admin })
    const response = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body,
    })
    const { access_token: value, expires_in: seconds } = await response.json()
    token = { value, expiresAt: Date.now() + (seconds - 20) * 1000 }
    return value
  }

  /** Sends JSON to the interface and returns the JSON of the response, or null. */
  return async function call(method, path, body) {
    const response = await fetch(`${origin}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await currentToken()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`Keycloak: ${method} ${path} returned ${response.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}

function keysOf({ jwks, jwksUrl }) {
  if (jwksUrl) return { 'use.jwks.url': 'true', 'jwks.url': jwksUrl }
  return jwks ? { 'use.jwks.string': 'true', 'jwks.string': JSON.stringify(jwks) } : {}
}

/** How a client authenticates, in the words of Keycloak. */
function authentication({ method, secret, certificate, subject, ...keys }) {
  if (method === 'tls_client_auth') {
    const attributes = { 'x509.subjectdn': subject, 'x509.allow.regex.pattern.comparison': 'false' }
    return { clientAuthenticatorType: 'client-x509', attributes: { ...attributes, ...keysOf(keys) } }
  }
  if (method !== 'private_key_jwt') return { clientAuthenticatorType: 'client-secret', secret }
  const key = certificate ? { 'jwt.credential.certificate': certificate } : keysOf(keys)
  return { clientAuthenticatorType: 'client-jwt', attributes: key }
}

/** Access tokens name the client that they can be exchanged for. */
const audienceMapper = {
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.client.audience': AUDIENCE, 'access.token.claim': 'true' },
}

/** ID tokens name the realm roles of the user, which by default only access tokens do. */
const rolesMapper = {
  name: 'realm roles',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-usermodel-realm-role-mapper',
  config: { 'claim.name': 'realm_access.roles', 'id.token.claim': 'true', multivalued: 'true' },
}

const groupsMapper = (groups) => ({
  name: 'groups',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: {
    'claim.name': 'groups',
    'claim.value': JSON.stringify(groups),
    'jsonType.label': 'JSON',
    'id.token.claim': 'true',
  },
})

/** A client that has to sign its requests, also those of backchannel authentication. */
const signedRequests = (algorithm, par) => ({
  // The address has a `request_uri` after a pushed request.
  'request.object.required': par ? 'request or request_uri' : 'request only',
  'request.object.signature.alg': algorithm,
  'ciba.backchannel.auth.request.signing.alg': algorithm,
})

const flag = (name, isOn) => (isOn ? { [name]: 'true' } : {})

function representation(clientId, wanted) {
  const { apps, accessTokenSeconds = 300, backchannelLogoutUrl, dpop, idTokenAlgorithm, par } = wanted
  const { requestAlgorithm } = wanted
  const { attributes, ...rest } = authentication(wanted)
  return {
    clientId,
    enabled: true,
    publicClient: false,
    standardFlowEnabled: !wanted.serviceAccount,
    serviceAccountsEnabled: wanted.serviceAccount ?? false,
    directAccessGrantsEnabled: false,
    redirectUris: apps.map((app) => `${app}/auth/callback`),
    ...rest,
    protocolMappers: [
      ...(wanted.exchange ? [audienceMapper] : []),
      ...(wanted.rolesInIdToken ? [rolesMapper] : []),
    ],
    attributes: {
      ...attributes,
      'post.logout.redirect.uris': apps.join('##'),
      'access.token.lifespan': String(accessTokenSeconds),
      ...flag('require.pushed.authorization.requests', par),
      ...flag('dpop.bound.access.tokens', dpop),
      ...flag('tls.client.certificate.bound.access.tokens', wanted.certificateBound),
      ...flag('oidc.ciba.grant.enabled', wanted.ciba),
      ...flag('standard.token.exchange.enabled', wanted.exchange),
      ...(requestAlgorithm ? signedRequests(requestAlgorithm, par) : {}),
      ...(idTokenAlgorithm ? { 'id.token.signed.response.alg': idTokenAlgorithm } : {}),
      ...(backchannelLogoutUrl
        ? { 'backchannel.logout.url': backchannelLogoutUrl, 'backchannel.logout.session.required': 'true' }
        : {}),
    },
  }
}

/**
 * Stands for the device of the user in CIBA: Keycloak posts each request for approval here, and gets the decision at
 * its callback.
 */
async function startApprovals(callbackUrl) {
  const server = createServer(async (request, response) => {
    request.resume()
    response.writeHead(201).end()
    const decide = () =>
      fetch(callbackUrl, {
        method: 'POST',
        headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
        body: JSON.stringify({ status: 'SUCCEED' }),
      })
    // Keycloak stores the request only after this response: a decision that comes sooner is refused.
    await until('Keycloak to take the decision', async () => (await decide()).ok).catch((error) =>
      console.error(`the approval failed: ${error.message}`),
    )
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.close() }
}

/** Actions of an administrator of the realm; clients are named by their `clientId`. */
function administrator(call) {
  const ids = new Map()
  let priority = 200
  return {
    async addClient(wanted) {
      const clientId = `client-${randomUUID()}`
      await call('POST', `/${REALM}/clients`, representation(clientId, wanted))
      const [{ id }] = await call('GET', `/${REALM}/clients?clientId=${clientId}`)
      ids.set(clientId, id)
      return clientId
    },
    async setAccessTokenSeconds(clientId, seconds) {
      const path = `/${REALM}/clients/${ids.get(clientId)}`
      const { attributes } = await call('GET', path)
      await call('PUT', path, { attributes: { ...attributes, 'access.token.lifespan': String(seconds) } })
    },
    /** Sets the claim `groups` of the ID tokens that a client gets from now on. */
    async setGroups(clientId, groups) {
      const path = `/${REALM}/clients/${ids.get(clientId)}/protocol-mappers/models`
      const known = (await call('GET', path)).find(({ name }) => name === 'groups')
      if (known) await call('DELETE', `${path}/${known.id}`)
      await call('POST', path, groupsMapper(groups))
    },
    /** Ends one session of the provider, as the button in the console does. */
    endSession: (sid, { isOffline = false } = {}) =>
      call('DELETE', `/${REALM}/sessions/${sid}?isOffline=${isOffline}`),
    /** Ends all sessions of the user of the tests, as *Sign out* on the page of the user does. */
    async signOutUser() {
      const [{ id }] = await call('GET', `/${REALM}/users?username=${user.name}&exact=true`)
      await call('POST', `/${REALM}/users/${id}/logout`)
    },
    /** Makes a new signing key the active one; the old one stays published. */
    async rotateKeys() {
      priority += 1
      const { id } = await call('GET', `/${REALM}`)
      const type = { providerType: 'org.keycloak.keys.KeyProvider', parentId: id }
      await call('POST', `/${REALM}/components`, { ...newerKey(priority), ...type })
    },
  }
}

async function createRealm(call) {
  await call('POST', '', realm)
  for (const scope of apiScopes) await call('POST', `/${REALM}/client-scopes`, scope)
  const names = apiScopes.map(({ name }) => name)
  const created = (await call('GET', `/${REALM}/client-scopes`)).filter(({ name }) => names.includes(name))
  for (const { id } of created) await call('PUT', `/${REALM}/default-optional-client-scopes/${id}`)
}

/** A running Keycloak that has the realm. */
export function keycloakAt(origin) {
  return {
    name: 'keycloak',
    title: `Keycloak ${VERSION}`,
    issuer: `${origin}/realms/${REALM}`,
    user: { username: user.name, password: user.password, otp: () => oneTimePassword(user.otpSecret) },
    lacks: { 'reference tokens': { reason: 'access tokens are JWTs' } },
    /** A client that tokens can be exchanged for. */
    audience: AUDIENCE,
    ...administrator(administration(origin)),
  }
}

/** Keycloak of a pinned version, with the realm of `keycloak-realm.mjs`. */
export async function startKeycloak({ key, certificate }) {
  const folder = await unpackArtifact(
    `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`,
    `keycloak-${VERSION}`,
  )
  // The database of the run before; this run's outlives a stop and a start.
  rmSync(join(folder, 'data'), { recursive: true, force: true })
  const port = await freePort()
  const origin = `https://127.0.0.1:${port}`
  const issuer = `${origin}/realms/${REALM}`
  const authority = await clientAuthority()
  const approvals = await startApprovals(`${issuer}/protocol/openid-connect/ext/ciba/auth/callback`)
  const channel = 'spi-ciba-auth-channel--ciba-http-auth-channel--http-authentication-channel-uri'
  const args = [
    ...['start-dev', '--http-host=127.0.0.1', `--https-port=${port}`, `--http-port=${await freePort()}`],
    ...[`--https-certificate-file=${certificate}`, `--https-certificate-key-file=${key}`],
    ...['--https-client-auth=request', `--https-trust-store-file=${authority.certificate}`],
    `--${channel}=${approvals.url}`,
  ]
  const env = {
    KC_BOOTSTRAP_ADMIN_USERNAME: admin.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: admin.password,
    JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx400m',
  }
  let program
  async function start() {
    program = startProgram('sh', [join(folder, 'bin/kc.sh'), ...args], { env })
    await untilResponding(program, `${origin}/realms/master`)
  }
  await start()
  await createRealm(administration(origin))
  return {
    ...keycloakAt(origin),
    issueCertificate: authority.issue,
    start,
    pause: () => program.stop(),
    async stop() {
      approvals.stop()
      await program.stop('SIGKILL')
    },
  }
}
