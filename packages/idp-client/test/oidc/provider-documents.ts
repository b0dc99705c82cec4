import type { JsonObject } from '../../src/oidc/json.ts'

/** Discovery documents as six kinds of real providers publish them (shortened to what clients read), with their issuers. */
export interface ProviderDocument {
  readonly name: string
  /** The issuers that the option `domain` of an application there stands for. */
  readonly issuers: readonly string[]
  readonly wrongIssuers: readonly string[]
  readonly document: JsonObject
}

const tenant = '11111111-2222-3333-4444-555555555555'
const rs256 = { id_token_signing_alg_values_supported: ['RS256'], response_types_supported: ['code'] }

export const documents: readonly ProviderDocument[] = [
  {
    name: 'a custom authorization server of Okta (path issuer)',
    issuers: ['https://example.okta.com/oauth2/default'],
    wrongIssuers: [
      'https://example.okta.com',
      'https://example.okta.com/oauth2/default/',
      'https://example.okta.com/oauth2',
    ],
    document: {
      issuer: 'https://example.okta.com/oauth2/default',
      authorization_endpoint: 'https://example.okta.com/oauth2/default/v1/authorize',
      token_endpoint: 'https://example.okta.com/oauth2/default/v1/token',
      userinfo_endpoint: 'https://example.okta.com/oauth2/default/v1/userinfo',
      jwks_uri: 'https://example.okta.com/oauth2/default/v1/keys',
      end_session_endpoint: 'https://example.okta.com/oauth2/default/v1/logout',
      revocation_endpoint: 'https://example.okta.com/oauth2/default/v1/revoke',
      pushed_authorization_request_endpoint: 'https://example.okta.com/oauth2/default/v1/par',
      token_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      code_challenge_methods_supported: ['S256'],
      ...rs256,
    },
  },
  {
    name: 'a realm of Keycloak (path issuer with a port)',
    issuers: ['https://sso.example:8443/realms/main'],
    wrongIssuers: [
      'https://sso.example/realms/main',
      'https://sso.example:8443/realms/other',
      'https://sso.example:8443/realms/Main',
    ],
    document: {
      issuer: 'https://sso.example:8443/realms/main',
      authorization_endpoint: 'https://sso.example:8443/realms/main/protocol/openid-connect/auth',
      token_endpoint: 'https://sso.example:8443/realms/main/protocol/openid-connect/token',
      jwks_uri: 'https://sso.example:8443/realms/main/protocol/openid-connect/certs',
      end_session_endpoint: 'https://sso.example:8443/realms/main/protocol/openid-connect/logout',
      id_token_signing_alg_values_supported: [
        'PS384',
        'RS384',
        'EdDSA',
        'ES384',
        'HS256',
        'HS512',
        'ES256',
        'RS256',
        'HS384',
      ],
      authorization_response_iss_parameter_supported: true,
      require_pushed_authorization_requests: false,
      backchannel_logout_supported: true,
    },
  },
  {
    name: 'a tenant of Entra ID',
    issuers: [`https://login.microsoftonline.com/${tenant}/v2.0`],
    wrongIssuers: [
      'https://login.microsoftonline.com/common/v2.0',
      'https://login.microsoftonline.com/{tenantid}/v2.0',
      `https://sts.windows.net/${tenant}/`,
    ],
    document: {
      issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
      authorization_endpoint: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/authorize`,
      token_endpoint: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
      userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
      jwks_uri: `https://login.microsoftonline.com/${tenant}/discovery/v2.0/keys`,
      end_session_endpoint: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/logout`,
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
      cloud_instance_name: 'microsoftonline.com',
      tenant_region_scope: null,
      ...rs256,
    },
  },
  {
    name: 'Google (endpoints on other hosts, no end-session endpoint)',
    issuers: ['https://accounts.google.com/', 'https://accounts.google.com'],
    wrongIssuers: ['accounts.google.com', 'https://google.com', 'https://accounts.google.com/o/oauth2'],
    document: {
      issuer: 'https://accounts.google.com',
      authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
      token_endpoint: 'https://oauth2.googleapis.com/token',
      userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
      revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
      jwks_uri: 'https://www.googleapis.com/oauth2/v3/certs',
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      code_challenge_methods_supported: ['plain', 'S256'],
      ...rs256,
    },
  },
  {
    name: 'a tenant whose issuer ends in a slash',
    issuers: ['https://example.eu.auth.example/', 'https://example.eu.auth.example'],
    wrongIssuers: [
      'https://example.us.auth.example/',
      'http://example.eu.auth.example/',
      'https://example.eu.auth.example.evil/',
    ],
    document: {
      issuer: 'https://example.eu.auth.example/',
      authorization_endpoint: 'https://example.eu.auth.example/authorize',
      token_endpoint: 'https://example.eu.auth.example/oauth/token',
      jwks_uri: 'https://example.eu.auth.example/.well-known/jwks.json',
      end_session_endpoint: 'https://example.eu.auth.example/oidc/logout',
      mfa_challenge_endpoint: 'https://example.eu.auth.example/mfa/challenge',
      id_token_signing_alg_values_supported: ['HS256', 'RS256', 'PS256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    },
  },
  {
    name: 'an internal provider on a port',
    issuers: ['https://10.1.2.3:9443/', 'https://10.1.2.3:9443'],
    wrongIssuers: ['https://10.1.2.3', 'https://10.1.2.3:9444', 'https://idp.internal:9443'],
    document: {
      issuer: 'https://10.1.2.3:9443',
      authorization_endpoint: 'https://10.1.2.3:9443/auth',
      token_endpoint: 'https://10.1.2.3:9443/token',
      jwks_uri: 'https://10.1.2.3:9443/jwks',
      end_session_endpoint: 'https://10.1.2.3:9443/session/end',
    },
  },
]
