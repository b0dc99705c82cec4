import { unknownOption } from '../config/unknown-keys.ts'
import type { Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { CustomTokenExchangeError } from '../errors/tokens.ts'
import { defined } from '../lib/objects.ts'
import { isNonBlankString } from '../lib/strings.ts'
import { getProvider } from '../oidc/provider.ts'
import { ACCESS_TOKEN, exchangeTokens } from '../oidc/token-endpoint.ts'
import type { AuthorizationDetail } from '../session/model/session-data.ts'

/** Options of `auth.exchange()`. */
export interface AccessTokenExchangeOptions {
  /** The API that the new access token is for. */
  audience: string
  /** Space-delimited scope. Default: none is sent, and the provider decides. */
  scope?: string | undefined
}

/** An access token for another API. Nothing of it is stored. */
export interface ExchangedAccessToken {
  accessToken: string
  /** `Bearer`, or `DPoP` for a token that is bound to the key of this application. */
  tokenType: string
  /** Lifetime in seconds from now. */
  expiresIn: number
  scope?: string
  /** The details that the provider granted (RFC 9396 section 7). */
  authorizationDetails?: AuthorizationDetail[]
}

const NAMES = ['audience', 'scope'] as const satisfies readonly (keyof AccessTokenExchangeOptions)[]

/** Exchanges the access token of a caller for one of another API (RFC 8693). Reads and writes no session. */
export async function exchangeAccessToken(
  { config }: Engine,
  token: string,
  options: AccessTokenExchangeOptions,
): Promise<ExchangedAccessToken> {
  const { audience, scope }: { readonly audience?: unknown; readonly scope?: unknown } = options ?? {}
  if (!isNonBlankString(audience) || (scope !== undefined && !isNonBlankString(scope)))
    throw new IdpError('INVALID_ARGUMENTS', {
      detail: 'exchange needs audience, and may have scope: strings.',
    })
  // Without a misspelt scope the provider might grant more.
  const unknown = unknownOption(options, NAMES)
  if (unknown !== undefined) throw new IdpError('INVALID_ARGUMENTS', { detail: `exchange got ${unknown}` })
  const parameters = Object.entries({
    subject_token: token,
    subject_token_type: ACCESS_TOKEN,
    requested_token_type: ACCESS_TOKEN,
    audience,
    ...(scope === undefined ? {} : { scope }),
  })
  try {
    const grant = await exchangeTokens(getProvider(config), parameters)
    const { accessToken, authorizationDetails, expiresIn, scope: granted, tokenType } = grant
    return defined({ accessToken, tokenType, expiresIn, scope: granted, authorizationDetails })
  } catch (cause) {
    if (isIdpError(cause, 'INVALID_CONFIGURATION')) throw cause
    throw new CustomTokenExchangeError('EXCHANGE_FAILED', { cause })
  }
}
