import type { GetAccessTokenOptions } from '../config/token-options.ts'

/** How a flow gets an access token of the session that it works for: by the flow that hands them out to everybody. */
export type TokenSource = (
  options: GetAccessTokenOptions,
) => Promise<{ readonly token: string; readonly token_type?: string }>
