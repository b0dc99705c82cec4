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
