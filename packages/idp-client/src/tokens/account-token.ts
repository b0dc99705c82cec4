import type { GetAccessTokenOptions } from '../config/token-options.ts'
import { isIdpError } from '../errors/base.ts'
import { forgetProcessTokens } from './refresh/process-tokens.ts'
import type { TokenSource } from './token-request.ts'

/** The session that calls the account API, and where its token comes from. */
export interface AccountCaller {
  readonly sessionKey: string
  readonly getToken: TokenSource
  /** The token of the account API. */
  readonly want: GetAccessTokenOptions
}

const refusesToken = (thrown: unknown): boolean =>
  isIdpError(thrown, 'MY_ACCOUNT_API_ERROR') && 'providerStatus' in thrown && thrown.providerStatus === 401

/**
 * Calls the account API once. If it refuses the token as invalid, the next call gets another one: this process would keep it until it
 * expires, and nobody else could request a new one.
 */
export async function callAccountApi<T>(
  { getToken, sessionKey, want }: AccountCaller,
  call: (access: Awaited<ReturnType<TokenSource>>) => Promise<T>,
): Promise<T> {
  const access = await getToken(want)
  try {
    return await call(access)
  } catch (thrown) {
    if (refusesToken(thrown)) forgetProcessTokens(sessionKey)
    throw thrown
  }
}
