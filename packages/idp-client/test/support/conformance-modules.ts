import type { DevProvider, TokenChange } from 'idp-dev-provider'

/**
 * The modules of the conformance plans for relying parties (OpenID Foundation): what each demands of a client, how the
 * provider behaves in it, and the reason with which the client refuses. `node tools/generate.mjs` writes them into
 * docs/reference/conformance-plans.md.
 */

/** Why a client refuses, as its log says it: the code, and a part of the detail if the code has several causes. */
export interface Refusal {
  readonly code: string
  readonly detail?: string
  /** The last endpoint that it sends a request to; default the token endpoint. */
  readonly last?: 'authorize' | 'backchannelAuthentication' | 'discovery'
}

export interface Module {
  /** As the OpenID Foundation publishes it, without the prefix of its plan. */
  readonly name: string
  readonly demand: string
  readonly section: string
  /** Makes the provider behave as the module says, until the returned function is called. */
  readonly behave?: (provider: DevProvider) => () => void
  /** The API demands a nonce in DPoP proofs, by default; or none; or it spells the scheme of its challenge in this way. */
  readonly api?: 'no-nonce' | 'dPoP'
  /** Seconds that the client waits before each token request; by default it sends one, after the interval. */
  readonly waits?: readonly number[]
  /** Absent: the client must succeed. */
  readonly refused?: Refusal
}

export interface Plan {
  /** The plans that have these modules. */
  readonly title: string
  readonly prefix: string
  /** The test whose titles are name and demand of each module. */
  readonly file: string
  readonly modules: readonly Module[]
}

const ID_TOKEN = 'OpenID Connect Core 3.1.3.7'

function tampered(change: TokenChange): (provider: DevProvider) => () => void {
  return (provider) => provider.tamperIdToken(change)
}

/** Changes claims, and signs as before. */
const withClaims = (change: (claims: Parameters<TokenChange>[0]) => void) =>
  tampered((claims) => {
    change(claims)
    return undefined
  })

const invalid = (detail: string): Refusal => ({ code: 'ID_TOKEN_INVALID', detail })
const WEEK = 604_800

const idTokenModules: readonly Module[] = [
  {
    name: 'invalid-alternate-alg',
    demand: 'an ID token has the algorithm that the client is registered for',
    section: `${ID_TOKEN} item 7`,
    behave: tampered(() => ({ alg: 'ES256' })),
    refused: invalid('Its algorithm is ES256, which the option idTokenSignedResponseAlg does not name'),
  },
  {
    name: 'invalid-null-alg',
    demand: 'an ID token with the algorithm none is refused',
    section: `${ID_TOKEN} item 7; FAPI 2.0 Security Profile 5.4.1`,
    behave: tampered(() => ({ alg: 'none' })),
    refused: invalid('which this library does not accept'),
  },
  {
    name: 'invalid-aud',
    demand: 'aud of an ID token contains the client id',
    section: `${ID_TOKEN} item 3`,
    behave: withClaims((claims) => {
      claims.aud = 'another-client'
    }),
    refused: invalid('aud does not contain the client id'),
  },
  {
    name: 'invalid-missing-aud',
    demand: 'an ID token has aud',
    section: 'OpenID Connect Core 2',
    behave: withClaims((claims) => {
      delete claims.aud
    }),
    refused: invalid('aud does not contain the client id'),
  },
  {
    name: 'invalid-secondary-aud',
    demand: 'an ID token for further audiences that the client does not trust is refused',
    section: `${ID_TOKEN} item 3`,
    behave: withClaims((claims) => {
      claims.aud = [String(claims.aud), 'https://untrusted.example']
    }),
    refused: invalid('aud names further audiences without azp being the client id'),
  },
  {
    name: 'valid-aud-as-array',
    demand: 'aud of an ID token may be an array with the client id as its only element',
    section: 'OpenID Connect Core 2',
    behave: withClaims((claims) => {
      claims.aud = [String(claims.aud)]
    }),
  },
  {
    name: 'invalid-expired-exp',
    demand: 'the current time is before exp of an ID token',
    section: `${ID_TOKEN} item 9`,
    behave: withClaims((claims) => {
      claims.exp = Number(claims.iat) - 300
    }),
    refused: invalid('exp is past'),
  },
  {
    name: 'invalid-missing-exp',
    demand: 'an ID token has exp',
    section: 'OpenID Connect Core 2',
    behave: withClaims((claims) => {
      delete claims.exp
    }),
    refused: invalid('exp is missing'),
  },
  {
    name: 'invalid-iss',
    demand: 'iss of an ID token is the issuer of the provider',
    section: `${ID_TOKEN} item 2`,
    behave: withClaims((claims) => {
      claims.iss = `${claims.iss}/other`
    }),
    refused: invalid('iss is not the issuer of the provider'),
  },
  {
    name: 'invalid-missing-iss',
    demand: 'an ID token has iss',
    section: 'OpenID Connect Core 2',
    behave: withClaims((claims) => {
      delete claims.iss
    }),
    refused: invalid('iss is not the issuer of the provider'),
  },
]

const STATE = 'OpenID Connect Core 3.1.2.5; RFC 6749 10.12'
const ISS = 'FAPI 2.0 Security Profile 5.3.3.2; RFC 9207 2.4'

/** Changes the parameters with which the browser returns. */
const returning = (change: (parameters: URLSearchParams) => void) => (provider: DevProvider) =>
  provider.tamperAuthorizationResponse(change)

const loginModules: readonly Module[] = [
  {
    name: 'happy-path',
    demand:
      'log in by a pushed request, and call an API with a bound token; both demand a nonce in DPoP proofs',
    section: 'FAPI 2.0 Security Profile 5.3.3.1, 5.3.3.2',
  },
  {
    name: 'happy-path-no-dpop-nonce',
    demand: 'log in and call an API where no server demands a nonce in DPoP proofs',
    section: 'FAPI 2.0 Security Profile 5.3.3.1; RFC 9449 8',
    api: 'no-nonce',
    behave: ({ settings }) => {
      settings.dpopNonces = false
      return () => {
        settings.dpopNonces = true
      }
    },
  },
  {
    name: 'discovery-issuer-mismatch',
    demand: 'the issuer in the metadata is that from which their URL was made',
    section: 'FAPI 2.0 Security Profile 5.3.3.1; OpenID Connect Discovery 4.3',
    behave: (provider) =>
      provider.rewrite('discovery', (json) => ({ ...json, issuer: `${json['issuer']}/other` })),
    refused: { code: 'DISCOVERY_ERROR', last: 'discovery' },
  },
  {
    name: 'ensure-authorization-response-with-invalid-missing-state-fails',
    demand: 'an authorization response has the state of the request',
    section: STATE,
    behave: returning((parameters) => parameters.delete('state')),
    refused: { code: 'MISSING_STATE', last: 'authorize' },
  },
  {
    name: 'ensure-authorization-response-with-invalid-state-fails',
    demand: 'the state of an authorization response is that of a request of this browser',
    section: STATE,
    behave: returning((parameters) => parameters.set('state', `${parameters.get('state')}1`)),
    refused: { code: 'UNKNOWN_STATE', last: 'authorize' },
  },
  {
    name: 'invalid-authorization-response-iss',
    demand: 'iss of an authorization response is the issuer of the provider',
    section: ISS,
    behave: returning((parameters) => parameters.set('iss', 'https://other.example')),
    refused: { code: 'ISSUER_MISMATCH', last: 'authorize' },
  },
  {
    name: 'remove-authorization-response-iss',
    demand: 'an authorization response of a provider that says so in its metadata has iss',
    section: ISS,
    behave: returning((parameters) => parameters.delete('iss')),
    refused: { code: 'ISSUER_MISMATCH', last: 'authorize' },
  },
  {
    name: 'invalid-nonce',
    demand: 'nonce of an ID token is that of the request',
    section: `${ID_TOKEN} item 11`,
    behave: withClaims((claims) => {
      claims['nonce'] = `${claims['nonce']}1`
    }),
    refused: invalid('nonce is not the one that was sent'),
  },
  {
    name: 'invalid-missing-nonce',
    demand: 'an ID token has the nonce that was sent',
    section: `${ID_TOKEN} item 11`,
    behave: withClaims((claims) => {
      delete claims['nonce']
    }),
    refused: invalid('nonce is not the one that was sent'),
  },
  {
    name: 'rs-dpop-auth-scheme-case-insensitivity',
    demand: 'the scheme of a challenge in WWW-Authenticate is case-insensitive: dPoP',
    section: 'RFC 9110 11.1; RFC 9449 9',
    api: 'dPoP',
  },
  {
    name: 'token-endpoint-response-without-expires_in',
    demand: 'a token response without expires_in is accepted',
    section: 'RFC 6749 5.1',
    behave: (provider) => provider.rewrite('token', (json) => ({ ...json, expires_in: undefined })),
  },
  {
    name: 'token-type-case-insensitivity',
    demand: 'token_type is case-insensitive',
    section: 'RFC 6749 5.1',
    behave: (provider) =>
      provider.rewrite('token', (json) => ({
        ...json,
        token_type: [...String(json['token_type'])]
          .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
          .join(''),
      })),
  },
  ...idTokenModules,
]

const refusedBy = (provider: DevProvider, endpoint: 'backchannelAuthentication' | 'token', error: string) =>
  provider.faults.set(
    endpoint,
    {
      kind: 'respond',
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ error }),
    },
    { times: 1 },
  )

/** The interval of authentication responses in seconds. */
export const CIBA_INTERVAL = 7

const CIBA_RESPONSE = 'CIBA Core 7.3'
const CIBA_ERROR = 'CIBA Core 13'
const CIBA_TOKEN_ERROR = 'CIBA Core 11'

const withoutProperty = (name: string) => (provider: DevProvider) =>
  provider.rewrite('backchannelAuthentication', (json) => ({ ...json, [name]: undefined }))

const cibaModules: readonly Module[] = [
  {
    name: 'test',
    demand: 'send a signed authentication request, poll until the user has approved, validate the ID token',
    section: 'CIBA Core 7.1.1, 10.1, 10.3.1; FAPI-CIBA 5.2.3',
  },
  {
    name: 'no-scope-in-token-endpoint-response-test',
    demand: 'a token response without scope is accepted',
    section: 'RFC 6749 5.1',
    behave: (provider) => provider.rewrite('token', (json) => ({ ...json, scope: undefined })),
  },
  {
    name: 'respects-interval-test',
    demand: 'wait for the interval of the response before each token request',
    section: `${CIBA_RESPONSE}, 10.1`,
    behave: (provider) => refusedBy(provider, 'token', 'authorization_pending'),
    waits: [CIBA_INTERVAL, CIBA_INTERVAL],
  },
  {
    name: 'slow-down-test',
    demand: 'after slow_down wait for at least 5 seconds more before each token request',
    section: CIBA_TOKEN_ERROR,
    behave: (provider) => refusedBy(provider, 'token', 'slow_down'),
    waits: [CIBA_INTERVAL, CIBA_INTERVAL + 5],
  },
  {
    name: 'invalid-missing-authreqid-test',
    demand: 'an authentication response has auth_req_id',
    section: CIBA_RESPONSE,
    behave: withoutProperty('auth_req_id'),
    refused: {
      code: 'RESPONSE_INVALID',
      detail: 'auth_req_id or expires_in is missing',
      last: 'backchannelAuthentication',
    },
  },
  {
    name: 'invalid-missing-expiresin-test',
    demand: 'an authentication response has expires_in',
    section: CIBA_RESPONSE,
    behave: withoutProperty('expires_in'),
    refused: {
      code: 'RESPONSE_INVALID',
      detail: 'auth_req_id or expires_in is missing',
      last: 'backchannelAuthentication',
    },
  },
  {
    name: 'invalid-request-test',
    demand: 'the error invalid_request ends the request: nothing is polled',
    section: CIBA_ERROR,
    behave: (provider) => refusedBy(provider, 'backchannelAuthentication', 'invalid_request'),
    refused: {
      code: 'OAUTH_ERROR',
      detail: 'It returned invalid_request',
      last: 'backchannelAuthentication',
    },
  },
  {
    name: 'invalid-unknown-user-id-test',
    demand: 'the error unknown_user_id ends the request: nothing is polled',
    section: CIBA_ERROR,
    behave: (provider) => refusedBy(provider, 'backchannelAuthentication', 'unknown_user_id'),
    refused: {
      code: 'OAUTH_ERROR',
      detail: 'It returned unknown_user_id',
      last: 'backchannelAuthentication',
    },
  },
  {
    name: 'invalid-access-denied-test',
    demand: 'the error access_denied ends the polling',
    section: CIBA_TOKEN_ERROR,
    behave: (provider) => refusedBy(provider, 'token', 'access_denied'),
    refused: { code: 'OAUTH_ERROR', detail: 'It returned access_denied' },
  },
  {
    name: 'invalid-expired-token-test',
    demand: 'the error expired_token ends the polling',
    section: CIBA_TOKEN_ERROR,
    behave: (provider) => refusedBy(provider, 'token', 'expired_token'),
    refused: { code: 'OAUTH_ERROR', detail: 'It returned expired_token' },
  },
  {
    name: 'invalid-iat-is-week-in-past-test',
    demand: 'an ID token that was issued too far in the past is refused',
    section: `${ID_TOKEN} item 10`,
    behave: withClaims((claims) => {
      claims.iat = Number(claims.iat) - WEEK
    }),
    refused: invalid('iat is before the login'),
  },
  {
    name: 'invalid-signature-test',
    demand: 'the signature of an ID token is that of a key of the provider',
    section: `${ID_TOKEN} item 6`,
    behave: tampered((claims) => {
      claims['changed'] = true
      return { keepSignature: true }
    }),
    refused: invalid("Its signature does not match the provider's keys"),
  },
  ...idTokenModules.map((module) => ({ ...module, name: `${module.name}-test` })),
]

export const fapi2: Plan = {
  title: 'FAPI 2.0 Security Profile and FAPI 2.0 Message Signing (JAR)',
  prefix: 'fapi2-security-profile-final-client-test-',
  file: 'packages/idp-client/test/flows/fapi.test.ts',
  modules: loginModules,
}

export const fapiCiba: Plan = {
  title: 'FAPI-CIBA in poll mode',
  prefix: 'fapi-ciba-id1-client-',
  file: 'packages/idp-client/test/flows/fapi-ciba.test.ts',
  modules: cibaModules,
}

export const plans = [fapi2, fapiCiba]
