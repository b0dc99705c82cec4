import type { SessionData } from '../../src/index.ts'
import type { StoredSession } from '../../src/session/model/stored-session.ts'
import type { Transaction } from '../../src/transaction/transaction.ts'
import type { Format } from './cookie-fixtures.ts'
import { returnPath } from './return-path.ts'

/* The clock of the fixtures, in seconds, and the tag of their client. */
const NOW = 1_800_000_000
const CLIENT = 'JmaOLxAPLRz3'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const claims = { sub: 'alice', name: 'Alice Ä', email: 'alice@example.com', org_id: 'org_1' }
const idToken = [
  encode({ alg: 'RS256', kid: 'k' }),
  encode({
    iss: 'https://idp.example.com/',
    aud: 'client',
    exp: NOW + 3600,
    iat: NOW,
    sid: 's-1',
    ...claims,
  }),
  Buffer.alloc(256, 7).toString('base64url'),
].join('.')

function sessionOf(changes: Partial<SessionData> = {}): StoredSession {
  return {
    data: {
      user: claims,
      tokenSet: {
        accessToken: 'opaque.access~token',
        idToken,
        refreshToken: 'cmVmcmVzaC10b2tlbg',
        expiresAt: NOW + 600,
        scope: 'openid profile offline_access',
        requestedScope: 'openid profile offline_access',
        token_type: 'Bearer',
      },
      internal: { createdAt: NOW - 1000, sid: 's-1' },
      ...changes,
    },
    sessionKey: 'AAECAwQFBgcICQoLDA0ODw',
    usedAt: NOW,
    clientTag: CLIENT,
  }
}

/** Of a login before the kept ID token, which a refresh has brought. */
const authentication = {
  iss: 'https://idp.example.com/',
  sub: 'alice',
  aud: ['client'],
  org_id: 'org_1',
  auth_time: NOW - 1000,
  acr: 'urn:gold',
  amr: ['pwd', 'otp'],
}

const resources = [
  {
    audience: 'https://orders.example.com',
    accessToken: idToken,
    expiresAt: NOW + 60,
    scope: 'read',
    token_type: 'DPoP',
  },
  { audience: 'https://bank.example.com', accessToken: 'at-2', expiresAt: NOW + 120, requestedScope: 'pay' },
]

const connections = [
  { connection: 'github', accessToken: 'gho_1', expiresAt: NOW + 60, scope: 'repo' },
  { connection: 'google', loginHint: '42', accessToken: 'ya29', expiresAt: NOW + 60 },
]

const begun = {
  stateHash: 'c3RhdGUtaGFzaC0xNi1i',
  codeVerifier: 'dmVyaWZpZXItb2YtdGhpcnR5LXR3by1ieXRlcy4uLi4',
  redirectUri: 'https://app.example.com/auth/callback',
  appBaseUrl: 'https://app.example.com',
  returnTo: returnPath('/orders?page=2#top'),
  startedAt: NOW - 60,
  expiresAt: NOW + 3540,
  clientTag: CLIENT,
} as const

const login: Transaction = {
  ...begun,
  responseType: 'code',
  nonce: 'bm9uY2U',
  scope: 'openid profile offline_access',
  audience: 'https://orders.example.com',
}

/** Every format that is written at present. */
export const formats: Readonly<Record<string, Format>> = {
  'session-2': { kind: 'session', content: sessionOf() },
  'session-2-asked': { kind: 'session', content: { ...sessionOf(), requestedAuthentication: 'YXNrZWQ' } },
  'session-2-authentication': { kind: 'session', content: { ...sessionOf(), authentication } },
  'session-id-1-key-authentication': {
    kind: 'session in a store',
    content: { ...sessionOf(), authentication: { ...authentication, ahead: true } },
  },
  'session-2-expiry': {
    kind: 'session',
    content: sessionOf({ internal: { createdAt: NOW - 1000, sid: 's-1', sessionExpiresAt: NOW + 900 } }),
  },
  'session-id-1-key-expiry': {
    kind: 'session in a store',
    content: sessionOf({ internal: { createdAt: NOW - 1000, sid: 's-1', sessionExpiresAt: NOW + 900 } }),
  },
  'session-2-own-scope': {
    kind: 'session',
    content: { ...sessionOf(), ownScope: 'read:orders' },
  },
  'session-id-1-key-own-scope': {
    kind: 'session in a store',
    content: { ...sessionOf(), ownScope: 'read:orders' },
  },
  'session-2-user-info': {
    kind: 'session',
    content: {
      ...sessionOf({ user: { sub: 'alice', department: 'sales' } }),
      userInfoClaims: ['department'],
    },
  },
  'session-id-1-key-user-info': {
    kind: 'session in a store',
    content: {
      ...sessionOf({ user: { sub: 'alice', department: 'sales' } }),
      userInfoClaims: ['department'],
    },
  },
  'session-2-own-user': {
    kind: 'session',
    content: sessionOf({
      user: { sub: 'row-42', roles: ['admin'] },
      theme: 'dark',
      nested: { list: [1, null] },
    }),
  },
  'session-2-several-cookies': {
    kind: 'session',
    content: sessionOf({ note: Array.from({ length: 400 }, (_, at) => `${at * 7919}`).join(' ') }),
  },
  'session-2-resources': { kind: 'session', content: sessionOf({ accessTokens: resources }) },
  'session-2-uncompressed': {
    kind: 'session',
    content: sessionOf({
      user: { sub: 'a' },
      tokenSet: { accessToken: 'at', expiresAt: NOW + 600 },
      internal: { createdAt: NOW },
    }),
  },
  'session-2-connections': { kind: 'session', content: sessionOf({ connectionTokenSets: connections }) },
  'session-id-1-key': {
    kind: 'session in a store',
    content: {
      ...sessionOf({ accessTokens: resources, connectionTokenSets: connections }),
      requestedAuthentication: 'YXNrZWQ',
    },
  },
  'transaction-1': { kind: 'transaction', content: login },
  'transaction-1-organization': {
    kind: 'transaction',
    content: { ...login, organization: 'org_1', maxAge: 0, requestedAuthentication: 'YXNrZWQ' },
  },
  'transaction-1-form-post': {
    kind: 'transaction',
    content: { ...login, crossSitePost: true, redirectUri: 'https://app.example.com:8443/other' },
  },
  'transaction-1-popup': { kind: 'transaction', content: { ...login, popup: 'channel' } },
  'transaction-1-own-scope': {
    kind: 'transaction',
    content: { ...login, ownScope: 'read:orders' },
  },
  'transaction-1-step-up-only': {
    kind: 'transaction',
    content: { ...login, popup: 'channel', stepUpOnly: true },
  },
  'transaction-1-connect': {
    kind: 'transaction',
    content: {
      ...begun,
      responseType: 'connect_code',
      authSession: 'as-1',
      sessionKey: 'AAECAwQFBgcICQoLDA0ODw',
      user: 'dXNlci10YWdh',
    },
  },
  'transaction-1-single': { kind: 'single transaction', content: login },
  'state-1': {
    kind: 'state',
    content: { issuedAt: NOW, host: 'app.example.com', returnTo: returnPath('/orders') },
  },
  'state-1-request-host': {
    kind: 'state',
    content: { issuedAt: NOW, host: 'example.com', requestHost: 'www.example.com' },
  },
  'state-1-restarted': {
    kind: 'state',
    content: { issuedAt: NOW, host: 'app.example.com', noRestart: true },
  },
  'mfa-token-1': {
    kind: 'mfa token',
    content: {
      token: 'provider-token',
      wanted: { wireParameters: { audience: 'https://bank.example.com', scope: 'openid pay' }, scope: 'pay' },
      requirements: { challenge: [{ type: 'otp' }] },
      createdAt: NOW,
      subject: 'alice',
      sessionKey: 'AAECAwQFBgcICQoLDA0ODw',
      clientTag: CLIENT,
    },
  },
  'guard-1': {
    kind: 'guard parameters',
    content: { acr_values: 'urn:gold', max_age: '300', organization: 'org_1', scope: 'read:orders' },
  },
  'logout-marker-1': {
    kind: 'logout marker',
    content: { clientTag: CLIENT, sessionKeys: ['AAECAwQFBgcICQoLDA0ODw'], writtenAt: NOW },
  },
  'logout-marker-1-several': {
    kind: 'logout marker',
    content: {
      clientTag: CLIENT,
      sessionKeys: ['AAECAwQFBgcICQoLDA0ODw', 'EBESExQVFhcYGRobHB0eHw'],
      writtenAt: NOW,
    },
  },
}
