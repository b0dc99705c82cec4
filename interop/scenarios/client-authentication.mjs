import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { assertionKey, certifiedKey, SECRET_OF_ALL_KINDS } from '../support/credentials.mjs'
import { expectSuccess } from './context.mjs'

/** Logs in, refreshes and revokes; returns the requests at which the client authenticated itself. */
async function authenticateEverywhere(context, setup) {
  const app = await context.application(setup)
  const browser = context.browser()
  await context.login(browser, app)
  await expectSuccess(browser, app, '/token?refresh=1')
  await expectSuccess(browser, app, '/revoke')
  const { requests } = app.reports()
  return requests.filter(({ grant, path }) => grant !== undefined || /revoke$/.test(path))
}

function expectMethod(requests, method) {
  equal(requests.length, 3, 'a code, a refresh token and a revocation were sent')
  for (const request of requests) equal(request.method, method, request.path)
}

const secretScenario = (method) => ({
  title: `login by ${method}, with a secret of all characters`,
  async run(context) {
    const client = { method, secret: `${SECRET_OF_ALL_KINDS}${randomUUID()}` }
    expectMethod(
      await authenticateEverywhere(context, { client, options: { tokenEndpointAuthMethod: method } }),
      method,
    )
  },
})

/**
 * One way to register a key. `register` returns the private key as PEM, what the provider gets of it, and the key id
 * that the application is configured with, if any.
 */
const assertionScenario = ({ title, needs = [], register, algorithm }) => ({
  title: `login by private_key_jwt, ${title}`,
  needs,
  async run(context) {
    const { keyId, privatePem, ...registered } = await register()
    const requests = await authenticateEverywhere(context, {
      client: { method: 'private_key_jwt', algorithm, ...registered },
      variables: { IDP_CLIENT_ASSERTION_SIGNING_KEY: privatePem },
      options: keyId === undefined ? {} : { clientAssertionSigningKeyId: keyId },
    })
    expectMethod(requests, 'private_key_jwt')
    for (const { assertion } of requests) {
      equal(assertion.alg, algorithm)
      equal(assertion.kid, keyId)
      deepEqual(assertion.aud, context.provider.issuer)
    }
  },
})

function createJwks(kind, ...keyIds) {
  const keys = keyIds.map(() => assertionKey(kind))
  const { privatePem } = keys[keys.length - 1]
  const publicKeys = keys.map(({ publicJwk }, index) => ({
    ...publicJwk,
    use: 'sig',
    ...(keyIds[index] ? { kid: keyIds[index] } : {}),
  }))
  return { privatePem, jwks: { keys: publicKeys } }
}

export const clientAuthentication = [
  secretScenario('client_secret_basic'),
  secretScenario('client_secret_post'),
  assertionScenario({
    title: 'RSA key registered as PEM certificate, no key id',
    needs: ['certificate'],
    algorithm: 'RS256',
    register: certifiedKey,
  }),
  assertionScenario({
    title: 'RSA key registered as PEM certificate, with key id',
    needs: ['certificate'],
    algorithm: 'RS256',
    async register() {
      const { hash, ...key } = await certifiedKey()
      return { ...key, keyId: hash }
    },
  }),
  assertionScenario({
    title: 'RSA key registered as JWKS without key id',
    algorithm: 'RS256',
    register: () => createJwks('RSA', undefined),
  }),
  assertionScenario({
    title: 'RSA key registered as JWKS with key id, none sent',
    algorithm: 'RS256',
    register: () => createJwks('RSA', 'first'),
  }),
  assertionScenario({
    title: 'second RSA key of a JWKS, named by its key id',
    algorithm: 'RS256',
    register: () => ({ ...createJwks('RSA', 'first', 'second'), keyId: 'second' }),
  }),
  assertionScenario({
    title: 'P-256 key registered as JWKS with key id',
    algorithm: 'ES256',
    register: () => ({ ...createJwks('EC', 'elliptic'), keyId: 'elliptic' }),
  }),
  assertionScenario({
    title: 'Ed25519 key registered as JWKS with key id',
    needs: ['EdDSA'],
    algorithm: 'EdDSA',
    register: () => ({ ...createJwks('EdDSA', 'edwards'), keyId: 'edwards' }),
  }),
  assertionScenario({
    title: 'Ed25519 key registered as PEM certificate',
    needs: ['certificate', 'EdDSA'],
    algorithm: 'EdDSA',
    register: () => certifiedKey('ED25519'),
  }),
  {
    title: 'login by private_key_jwt, the provider loads the keys from the route jwks',
    async run(context) {
      const requests = await authenticateEverywhere(context, {
        client: { method: 'private_key_jwt', algorithm: 'ES256', usesPublishedKeys: true },
        variables: { IDP_CLIENT_ASSERTION_SIGNING_KEY: assertionKey('EC').privatePem },
        options: { clientAssertionSigningKeyId: 'published', enableJwksEndpoint: true },
      })
      expectMethod(requests, 'private_key_jwt')
    },
  },
  {
    title: 'login by private_key_jwt, the token endpoint as audience',
    async run(context) {
      const { privatePem, jwks } = createJwks('RSA', undefined)
      const requests = await authenticateEverywhere(context, {
        client: { method: 'private_key_jwt', algorithm: 'RS256', jwks },
        variables: { IDP_CLIENT_ASSERTION_SIGNING_KEY: privatePem },
        options: { clientAssertionAudience: 'token_endpoint' },
      })
      expectMethod(requests, 'private_key_jwt')
      for (const { assertion } of requests) ok(assertion.aud !== context.provider.issuer)
    },
  },
]
