/** A realm as an administrator would set it up: rotation, keys of several kinds, a second level of authentication. */

import { apis } from '../applications/apis.mjs'

export const REALM = 'interop'

/** A client that only takes tokens: the API that others exchange their tokens for. */
export const AUDIENCE = 'orders-api'

export const user = {
  name: 'alice',
  password: 'correct horse battery staple',
  otpSecret: 'interop-otp-secret-1',
}

const step = (rest) => ({ requirement: 'REQUIRED', userSetupAllowed: false, ...rest })

const authenticator = (name, priority, rest = {}) =>
  step({ authenticator: name, authenticatorFlow: false, priority, ...rest })

const flow = (alias, executions, topLevel = false) => ({
  alias,
  providerId: 'basic-flow',
  topLevel,
  builtIn: false,
  authenticationExecutions: executions,
})

const subflow = (alias, requirement, priority) =>
  step({ flowAlias: alias, authenticatorFlow: true, requirement, priority })

/** One level: its condition, and how it is reached. */
const level = (number, name) =>
  flow(`level ${number}`, [
    authenticator('conditional-level-of-authentication', 10, { authenticatorConfig: `level ${number}` }),
    authenticator(name, 20),
  ])

const levelConfiguration = (number, maxAge) => ({
  alias: `level ${number}`,
  config: { 'loa-condition-level': String(number), 'loa-max-age': String(maxAge) },
})

const key = (name, providerId, config = {}) => ({
  name,
  providerId,
  config: Object.fromEntries(
    Object.entries({ priority: '100', enabled: 'true', active: 'true', ...config }).map(([option, value]) => [
      option,
      [value],
    ]),
  ),
})

export const keys = [
  key('rs256', 'rsa-generated', { algorithm: 'RS256' }),
  key('rs512', 'rsa-generated', { algorithm: 'RS512' }),
  key('ps256', 'rsa-generated', { algorithm: 'PS256' }),
  key('es256', 'ecdsa-generated', { ecdsaEllipticCurveKey: 'P-256', ecGenerateCertificate: 'false' }),
  key('es384', 'ecdsa-generated', { ecdsaEllipticCurveKey: 'P-384', ecGenerateCertificate: 'false' }),
  key('eddsa', 'eddsa-generated', { eddsaEllipticCurveKey: 'Ed25519' }),
  key('hs512', 'hmac-generated', { algorithm: 'HS512' }),
  key('aes', 'aes-generated'),
]

/** A client that requests a scope of an API gets tokens for that API. ID tokens, too: they must be refused nevertheless. */
const apiScope = (name, audience) => ({
  name,
  protocol: 'openid-connect',
  attributes: { 'include.in.token.scope': 'true' },
  protocolMappers: [
    {
      name: 'audience',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-audience-mapper',
      config: {
        'included.custom.audience': audience,
        'access.token.claim': 'true',
        'id.token.claim': 'true',
      },
    },
  ],
})

/** Client scopes that every client may request. They are no part of the realm's import, which would replace those of Keycloak. */
export const apiScopes = Object.values(apis).flatMap(({ audience, scopes }) =>
  scopes.map((name) => apiScope(name, audience)),
)

/** An RSA key that replaces the active one, because its priority is higher. */
export const newerKey = (priority) =>
  key(`rs256-${priority}`, 'rsa-generated', { algorithm: 'RS256', priority: String(priority) })

export const realm = {
  realm: REALM,
  enabled: true,
  sslRequired: 'none',
  revokeRefreshToken: true,
  refreshTokenMaxReuse: 0,
  defaultSignatureAlgorithm: 'RS256',
  browserFlow: 'step-up',
  // Several scenarios use the same one-time password within its 30 s.
  otpPolicyCodeReusable: true,
  attributes: { 'acr.loa.map': JSON.stringify({ silver: 1, gold: 2 }) },
  components: { 'org.keycloak.keys.KeyProvider': keys },
  authenticationFlows: [
    flow(
      'step-up',
      [
        authenticator('auth-cookie', 10, { requirement: 'ALTERNATIVE' }),
        subflow('levels', 'ALTERNATIVE', 20),
      ],
      true,
    ),
    flow('levels', [subflow('level 1', 'CONDITIONAL', 10), subflow('level 2', 'CONDITIONAL', 20)]),
    level(1, 'auth-username-password-form'),
    level(2, 'auth-otp-form'),
  ],
  authenticatorConfig: [levelConfiguration(1, 36_000), levelConfiguration(2, 300)],
  clients: [{ clientId: AUDIENCE, secret: 'interop-api-secret', standardFlowEnabled: false }],
  roles: { realm: [{ name: 'auditor' }] },
  users: [
    {
      username: user.name,
      enabled: true,
      email: 'alice@example.com',
      emailVerified: true,
      firstName: 'Alice',
      lastName: 'Example',
      // Users who are imported with a realm get no default roles; `offline_access` is one of them.
      realmRoles: [`default-roles-${REALM}`, 'auditor'],
      credentials: [
        { type: 'password', value: user.password },
        {
          type: 'otp',
          secretData: JSON.stringify({ value: user.otpSecret }),
          credentialData: JSON.stringify({
            subType: 'totp',
            digits: 6,
            counter: 0,
            period: 30,
            algorithm: 'HmacSHA1',
          }),
        },
      ],
    },
  ],
}
