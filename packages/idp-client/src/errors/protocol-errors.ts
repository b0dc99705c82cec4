/**
 * Registered values of `error`: the only strings of a provider that events, log lines and pages contain. Any other
 * value is reported as `other`.
 */
const REGISTERED: ReadonlySet<string> = new Set([
  // RFC 6749
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  // RFC 6750, RFC 9470
  'insufficient_scope',
  'insufficient_user_authentication',
  'invalid_token',
  // RFC 7009, RFC 8693, RFC 8707, RFC 9396
  'invalid_authorization_details',
  'invalid_target',
  'unsupported_token_type',
  // RFC 7523, RFC 7591
  'invalid_client_metadata',
  'invalid_redirect_uri',
  // RFC 8628, OpenID Connect CIBA
  'authorization_pending',
  'expired_login_hint_token',
  'expired_token',
  'invalid_binding_message',
  'invalid_user_code',
  'missing_user_code',
  'slow_down',
  'transaction_failed',
  'unknown_user_id',
  // RFC 9101, RFC 9126
  'invalid_request_object',
  'invalid_request_uri',
  'request_not_supported',
  'request_uri_not_supported',
  // RFC 9449
  'invalid_dpop_proof',
  'use_dpop_nonce',
  // OpenID Connect
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
  'registration_not_supported',
  'unmet_authentication_requirements',
  // Not registered, but used by the MFA API, by Keycloak for a user who may not have offline_access, and by Ory Hydra up to version
  // 2.2 for a used refresh token.
  'mfa_required',
  'not_allowed',
  'token_inactive',
])

/** The value itself when it is registered, else `other`. */
export function registeredError(error: string): string {
  return REGISTERED.has(error) ? error : 'other'
}
