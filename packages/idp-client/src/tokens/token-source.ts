import type { GetAccessTokenOptions } from '../config/token-options.ts'

/** Gets an access token of the session, by the flow that applications call, too. */
export type TokenSource = (
  options: GetAccessTokenOptions,
) => Promise<{ readonly token: string; readonly token_type?: string }>
