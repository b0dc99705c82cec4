import type { Code } from './code.ts'

/** Fixes where one code has several reasons, by reason. */
export const reasons = {
  // Reaching the provider.
  UNKNOWN_HOST:
    'Check the spelling of the host in domain (IDP_DOMAIN), and that this machine can resolve it (DNS, container network, VPN).',
  CONNECTION_REFUSED: 'Start the provider, or correct host and port in domain (IDP_DOMAIN).',
  CONNECTION_LOST:
    'Check the proxy, firewall or load balancer between this server and the provider; an https port also closes http:// connections.',
  NETWORK_UNREACHABLE:
    "Allow outgoing connections from this server to the provider, or configure the network's proxy.",
  PROVIDER_TIMEOUT:
    'Check that the provider responds and that no firewall drops the connection; raise httpTimeout if it is slow.',
  CERTIFICATE_NOT_TRUSTED:
    "Make Node.js trust the provider's certificate authority: start the process with NODE_EXTRA_CA_CERTS=<file of the CA>.",
  CERTIFICATE_EXPIRED: "Renew the provider's TLS certificate, or correct the clock of this server.",
  CERTIFICATE_HOST:
    'Use the host name that the TLS certificate was issued for in domain (IDP_DOMAIN), or reissue the certificate.',
  NOT_TLS:
    'Use the https port in domain (IDP_DOMAIN); for a local provider on http, write http:// and set allowInsecureRequests.',
  PROVIDER_UNAVAILABLE: "Check the provider's status; its log has the reason.",
  RATE_LIMITED: "Raise the provider's rate limit for this client, or send fewer requests.",
  PROVIDER_REDIRECTS: 'Set domain (IDP_DOMAIN) to the final address.',
  DISCOVERY_NOT_FOUND:
    'Correct the path in domain (IDP_DOMAIN), which includes the realm or tenant. Opened in a browser, that URL must show JSON.',
  DISCOVERY_NOT_JSON:
    'Correct domain (IDP_DOMAIN), or look for a proxy or captive portal that responds in place of the provider.',
  DISCOVERY_ISSUER_MISMATCH:
    'Set domain (IDP_DOMAIN) to exactly the issuer in the document at that URL: scheme, host, port, path and trailing slash count.',
  ENDPOINT_MISSING:
    'Enable the feature at the provider, so that its metadata lists the endpoint, or remove the option that needs it.',
  RESPONSE_NOT_OAUTH:
    'Look for a proxy, firewall or error page that responds in place of the provider (a firewall may reject the Idp-Client header: enableTelemetry).',

  // Rejections by the provider.
  CLIENT_REFUSED:
    'Compare clientId and clientSecret (IDP_CLIENT_ID, IDP_CLIENT_SECRET) with the client at the provider. If it expects the secret in another way, set tokenEndpointAuthMethod (IDP_TOKEN_ENDPOINT_AUTH_METHOD) to client_secret_basic or client_secret_post.',
  CLIENT_ASSERTION_REFUSED:
    'Register the public key of clientAssertionSigningKey for private_key_jwt at the provider; compare key id (clientAssertionSigningKeyId), algorithm (clientAssertionSigningAlg) and the clocks; a provider that expects its token endpoint as audience needs clientAssertionAudience: token_endpoint.',
  CLIENT_NOT_ALLOWED:
    'Allow the grant type and response type code for this client at the provider (authorization code, refresh token).',
  REDIRECT_URI_REFUSED:
    'Register that redirect URI at the provider, character by character; it is appBaseUrl (APP_BASE_URL) plus /auth/callback.',
  CODE_REFUSED:
    'The code was used, has expired, or was issued for another redirect URI, client or key: start the login again; if it happens every time, register that redirect URI, and set useDPoP where the provider demands it.',
  SCOPE_REFUSED:
    'Remove the scope from authorizationParameters.scope, or allow it for this client at the provider; the default scope includes offline_access.',
  AUDIENCE_REFUSED:
    'Register the API at the provider with exactly the requested audience, and allow it for this client.',
  REQUEST_REFUSED:
    'Register that redirect URI at the provider, character by character, and compare authorizationParameters with what it accepts; its own log names the parameter that it refuses.',
  PAR_REQUIRED: 'Set pushedAuthorizationRequests to true.',
  PAR_NOT_OFFERED: 'Set pushedAuthorizationRequests to false, or enable it at the provider.',
  DPOP_REQUIRED: 'Set useDPoP to true, with a key pair: the provider binds the tokens of this client.',
  DPOP_KEYS: 'Create a pair with generateDpopKeyPair(), and set both keys together.',
  DPOP_NOT_ENABLED: 'Enable DPoP for the client and the API at the provider, or set useDPoP to false.',
  DPOP_PROOF_REFUSED:
    'Compare the clocks of both servers (dpopOptions.clockSkew), and the algorithms that the provider accepts for DPoP (ES256 is used).',
  DPOP_NONCE_REFUSED:
    'Look for something that removes or caches the DPoP-Nonce header between the provider and this server.',

  // Invalid tokens.
  CLOCKS_DIFFER:
    'Synchronize the clocks of this server and of the provider (NTP). If that is impossible, set dpopOptions.clockSkew (IDP_DPOP_CLOCK_SKEW) to the seconds that the provider is ahead; it applies to all tokens, not only to DPoP.',
  ID_TOKEN_MISSING: 'Keep openid in authorizationParameters.scope.',
  ID_TOKEN_ALGORITHM:
    "Configure the provider to sign this client's ID tokens with an algorithm that its metadata lists (id_token_signing_alg_values_supported), or set idTokenSignedResponseAlg (IDP_ID_TOKEN_SIGNED_RESPONSE_ALG) to the one that it uses.",
  ID_TOKEN_ALGORITHM_UNSUPPORTED:
    "Configure the provider to sign this client's ID tokens with RS256, ES256, PS256 or EdDSA; HS256 and none are never accepted.",
  ID_TOKEN_SIGNATURE:
    "Compare the keys at the provider's jwks_uri with the one that signs; a cache or proxy may serve old keys.",
  ID_TOKEN_AUDIENCE:
    'Compare clientId (IDP_CLIENT_ID) with the client that the provider issues ID tokens for.',
  ID_TOKEN_ISSUER:
    "Compare the issuer of the ID token with that of the metadata: a custom domain and the tenant's domain are different issuers.",
  ID_TOKEN_NONCE:
    'The ID token belongs to another login: start again. If it happens every time, something at the provider drops or changes the nonce.',
  ID_TOKEN_ORGANIZATION:
    'Enable organizations for this client at the provider, and compare the value of organization with the id or name of the organization.',
  MAX_AGE_NOT_MET: 'Configure the provider to apply max_age and send auth_time, or remove max_age.',
  USERINFO_TOKEN_REFUSED:
    'Request the scope openid and no audience of another API, so that UserInfo accepts the access token; or set fetchUserInfo to false.',
  USERINFO_SIGNED: 'Remove userinfo_signed_response_alg from the client at the provider.',

  // The application.
  HOOK_RESULT:
    "Correct the hook's return value; see https://github.com/idp-client/idp-client/blob/main/docs/reference/options.md.",
  FORWARDED_HEADERS_IGNORED:
    'Set appBaseUrl (APP_BASE_URL), or trustProxy where the proxy overwrites both headers.',
  HTTPS_BASE_URL: 'Use http:// in appBaseUrl (APP_BASE_URL) on this machine, or serve https.',
  BASE_URL_INTERNAL: 'Set appBaseUrl (APP_BASE_URL) to the address that browsers see.',
  BASE_PATH_MISSING: 'Set FRAMEWORK_PUBLIC_BASE_PATH (NEXT_PUBLIC_BASE_PATH in Next.js).',
  PROXY_NOT_REACHED: 'Check file, folder, export and matcher of proxy.ts (middleware.ts before Next.js 16).',
  SESSION_COOKIE_SHARED: 'Give each application on the host a session.cookie.name of its own.',
  LOGOUT_NOT_OFFERED: "Set logoutStrategy: 'local', or enable RP-initiated logout at the provider.",
  HOOK_SIGNATURE: 'Declare one parameter: onCallback({ error, session, returnTo }).',
  SESSION_STORE_UNREACHABLE:
    "Check that the session store's database runs and that this server can reach it (address, port, firewall).",
  SESSION_STORE_NOT_SET_UP:
    'Create the tables with migrate(), grant the database user access, and check the connection string.',
  SESSION_STORE_NOT_CONNECTED:
    'Connect the client of the database (await client.connect()) before the first request.',
  SESSION_STORE_UPDATE:
    'Give sessionStore.update the signature update(id, change, expiry), or rename or remove it.',
}

/**
 * Names a fix: that of a code, or of one of several reasons of a code.
 * https://github.com/idp-client/idp-client/blob/main/docs/guides/troubleshooting.md has each.
 */
export type Remedy = Code | keyof typeof reasons
