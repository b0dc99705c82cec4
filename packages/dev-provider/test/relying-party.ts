import * as client from 'openid-client'
import type { DevProvider, LoginOptions } from '../src/index.ts'

export const CALLBACK = 'http://localhost:3000/auth/callback'
export const SCOPE = 'openid profile email offline_access'

/** An application as the tests need one: a real client library that knows nothing of the provider. */
export interface RelyingParty {
  readonly config: client.Configuration
  authorize(
    parameters?: Record<string, string>,
  ): Promise<{ url: URL; checks: client.AuthorizationCodeGrantChecks }>
  logIn(parameters?: Record<string, string>, options?: LoginOptions): Promise<Tokens>
  refresh(tokens: Tokens, parameters?: Record<string, string>): Promise<Tokens>
  /** Any other grant. */
  grant(type: string, parameters: Record<string, string>): Promise<Tokens>
}

export type Tokens = client.TokenEndpointResponse & client.TokenEndpointResponseHelpers

export interface PartyOptions {
  readonly clientId?: string
  readonly auth?: client.ClientAuth
  readonly fetch?: client.CustomFetch
  readonly dpop?: client.DPoPHandle
}

function dpop({ dpop: DPoP }: PartyOptions): { DPoP?: client.DPoPHandle } {
  return DPoP ? { DPoP } : {}
}

export async function relyingParty(provider: DevProvider, options: PartyOptions = {}): Promise<RelyingParty> {
  const config = await client.discovery(
    new URL(provider.issuer),
    options.clientId ?? provider.clientId,
    undefined,
    options.auth ?? client.ClientSecretPost(provider.clientSecret ?? ''),
    {
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
      ...(options.fetch ? { [client.customFetch]: options.fetch } : {}),
    },
  )
  const authorize: RelyingParty['authorize'] = async (parameters = {}) => {
    const checks = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedState: client.randomState(),
      expectedNonce: client.randomNonce(),
    }
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: SCOPE,
      state: checks.expectedState,
      nonce: checks.expectedNonce,
      code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...parameters,
    })
    return { url, checks }
  }
  return {
    config,
    authorize,
    refresh: (tokens, parameters) =>
      client.refreshTokenGrant(config, tokens.refresh_token ?? '', parameters, dpop(options)),
    grant: (type, parameters) => client.genericGrantRequest(config, type, parameters, dpop(options)),
    logIn: async (parameters, loginOptions) => {
      const { url, checks } = await authorize(parameters)
      const { location } = await provider.login(url.href, loginOptions)
      return client.authorizationCodeGrant(config, new URL(location ?? ''), checks, undefined, dpop(options))
    },
  }
}

/** The OAuth error code that a rejected grant carries. */
export async function oauthError(grant: Promise<unknown>): Promise<string> {
  try {
    await grant
    return 'no error'
  } catch (error) {
    return error instanceof client.ResponseBodyError || error instanceof client.AuthorizationResponseError
      ? error.error
      : String(error)
  }
}
