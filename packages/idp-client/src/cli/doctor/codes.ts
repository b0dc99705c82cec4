import type { Remedy } from '../../errors/remedy.ts'

/**
 * Causes that only the doctor can find, and their fixes: they continue the list of `errors/remedies.ts`, which every application
 * loads.
 */
export const doctorRemedies = {
  CONFIG_NOT_LOADED:
    'Name the module that exports the client. Run it with node to see its error. TypeScript needs Node.js 22.18 or newer, and no path aliases, or tsx: NODE_OPTIONS="--import tsx".',
  UNKNOWN_VARIABLE: 'Correct the name of the variable.',
  POST_LOGOUT_URL_REFUSED:
    'Register that URL at the provider as a post-logout redirect URI, character by character.',
  APP_URL_INSECURE: 'Serve the application over https, and use https:// in appBaseUrl (APP_BASE_URL).',
  APP_UNREACHABLE:
    'Start the application, and correct scheme, host and port of --app; check DNS, firewall and certificate of its address.',
  APP_REDIRECTS: 'Use the final address for --app and appBaseUrl (APP_BASE_URL).',
  APP_FAILED: 'Look for the reason in the log of the application.',
  APP_CONFIGURED_DIFFERENTLY:
    'Run the doctor with the variables of the application (--env) and the module that exports its client (--config), or correct what the application runs with.',
  LOGIN_ROUTE_NOT_FOUND:
    'Mount the middleware, check the base path, and let the proxy forward the auth routes. If the code sets routes, name the module that exports the client (--config).',
  PROXY_FAILED:
    "Check the proxy's log: it cannot reach the application, or the buffers for the head of a response are too small (proxy_buffer_size of nginx).",
  RESPONSE_HEADERS_REFUSED:
    'Raise the buffers of the proxy for the head of a response to 16k (proxy_buffer_size, proxy_buffers and proxy_busy_buffers_size of nginx).',
  REQUEST_HEADERS_REFUSED:
    'Raise the limit of the proxy for the headers of a request to 16k (large_client_header_buffers of nginx).',
  SET_COOKIE_LOST: 'Let the proxy forward Set-Cookie (no proxy_hide_header Set-Cookie).',
  COOKIE_CHANGED:
    'Remove what changes cookies from the proxy (proxy_cookie_path, proxy_cookie_domain and proxy_cookie_flags of nginx).',
  COOKIE_NOT_SECURE:
    'Set appBaseUrl (APP_BASE_URL) to the https address that browsers see, or let the proxy send X-Forwarded-Proto and set trustProxy.',
  NO_STORE_LOST:
    'Let the proxy forward Cache-Control as it is (no proxy_hide_header Cache-Control, no expires or add_header that replaces it).',
  RESPONSE_CACHED:
    'Exclude the auth routes from the cache of the proxy (no proxy_ignore_headers Cache-Control or Set-Cookie).',
  BACKCHANNEL_LOGOUT_BLOCKED:
    'Allow POST requests of other servers, without Origin and cookies, to this route: exempt it from CSRF checks, the firewall and the login wall.',
  FORM_POST_BLOCKED:
    'Allow POST requests from pages of the provider to the callback route: exempt it from CSRF checks, or remove response_mode form_post.',
}

/** A code of a finding that is in no log line. */
export type DoctorCode = keyof typeof doctorRemedies

/** The code of a finding. */
export type FindingCode = Remedy | DoctorCode

/** The codes by what they are about, in the order of the checks: the list in docs/guides/doctor.md. */
export const findingAreas: Readonly<Record<string, readonly FindingCode[]>> = {
  Configuration: [
    'CONFIG_NOT_LOADED',
    'INVALID_CONFIGURATION',
    'UNKNOWN_VARIABLE',
    'HOOK_SIGNATURE',
    'DPOP_KEYS',
  ],
  'Reaching the provider': [
    'UNKNOWN_HOST',
    'CONNECTION_REFUSED',
    'CONNECTION_LOST',
    'NETWORK_UNREACHABLE',
    'PROVIDER_TIMEOUT',
    'NOT_TLS',
    'CERTIFICATE_NOT_TRUSTED',
    'CERTIFICATE_EXPIRED',
    'CERTIFICATE_HOST',
    'CLOCKS_DIFFER',
  ],
  'Metadata and keys': [
    'DISCOVERY_NOT_FOUND',
    'DISCOVERY_NOT_JSON',
    'DISCOVERY_ISSUER_MISMATCH',
    'PROVIDER_REDIRECTS',
    'PROVIDER_UNAVAILABLE',
    'ENDPOINT_MISSING',
    'JWKS_ERROR',
    'ID_TOKEN_ALGORITHM',
    'ID_TOKEN_ALGORITHM_UNSUPPORTED',
    'ID_TOKEN_SIGNATURE',
    'PAR_REQUIRED',
    'PAR_NOT_OFFERED',
    'REQUEST_OBJECT_REQUIRED',
    'DPOP_NOT_ENABLED',
    'MISSING_REFRESH_TOKEN',
  ],
  'The client at the provider': [
    'CLIENT_REFUSED',
    'CLIENT_ASSERTION_REFUSED',
    'CLIENT_CERTIFICATE_REFUSED',
    'CLIENT_NOT_ALLOWED',
    'AUTHORIZATION_CODE_GRANT_ERROR',
    'RATE_LIMITED',
    'RESPONSE_NOT_OAUTH',
    'DPOP_REQUIRED',
    'DPOP_PROOF_REFUSED',
    'DPOP_NONCE_REFUSED',
    'REDIRECT_URI_REFUSED',
    'REQUEST_REFUSED',
    'SCOPE_REFUSED',
    'AUDIENCE_REFUSED',
    'POST_LOGOUT_URL_REFUSED',
    'LOGOUT_NOT_OFFERED',
  ],
  'The running application and its proxy': [
    'APP_UNREACHABLE',
    'APP_URL_INSECURE',
    'HTTPS_BASE_URL',
    'APP_REDIRECTS',
    'LOGIN_ROUTE_NOT_FOUND',
    'PROXY_NOT_REACHED',
    'PROXY_FAILED',
    'APP_FAILED',
    'BASE_URL_NOT_ALLOWED',
    'APP_CONFIGURED_DIFFERENTLY',
    'FORWARDED_HEADERS_IGNORED',
    'BASE_URL_INTERNAL',
    'STATE_HOST_MISMATCH',
    'BASE_PATH_MISSING',
    'SET_COOKIE_LOST',
    'COOKIE_CHANGED',
    'COOKIE_NOT_SECURE',
    'NO_STORE_LOST',
    'RESPONSE_CACHED',
    'REQUEST_HEADERS_REFUSED',
    'RESPONSE_HEADERS_REFUSED',
    'BACKCHANNEL_LOGOUT_BLOCKED',
    'BACKCHANNEL_LOGOUT_NOT_SUPPORTED',
    'FORM_POST_BLOCKED',
  ],
  'The session store': [
    'SESSION_STORE_UNREACHABLE',
    'SESSION_STORE_NOT_SET_UP',
    'SESSION_STORE_NOT_CONNECTED',
    'SESSION_STORE_FAILED',
    'SESSION_STORE_UPDATE',
    'SESSION_STORE_CLOCK',
    'SESSION_STORE_LOST_RECORD',
  ],
}
