/** Options of `getAccessToken`. */
export interface GetAccessTokenOptions {
  /**
   * Refresh even if the token is still valid; default false. The old token is then never returned: a refresh that fails
   * throws `FAILED_TO_REFRESH_TOKEN`, and without a refresh token it is `MISSING_REFRESH_TOKEN`.
   */
  refresh?: boolean
  /** Scope that the token must have, space-delimited. */
  scope?: string
  /** API that the token is for; default the one of the login. Further ones need the provider's refresh-token policy. */
  audience?: string
  /** Whether `scope` is added to the configured one (default) or replaces it. */
  mergeScopes?: boolean
}
