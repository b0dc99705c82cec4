import { backchannelAuthenticationRequest } from 'oauth4webapi'
import { OAuthError } from '../errors/provider.ts'
import { BackchannelAuthenticationError } from '../errors/tokens.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { defined } from '../lib/objects.ts'
import type { Pause } from '../lib/pause.ts'
import { pause as realPause } from '../lib/pause.ts'
import { reportFailure } from '../log/failure.ts'
import { call } from './call.ts'
import type { ServerMetadata } from './metadata.ts'
import { hasAlias, wireNames } from './metadata.ts'
import type { Provider } from './provider.ts'
import { toRequestForm } from './request-form.ts'
import type { GrantWithIdToken, TokenResponse } from './token-endpoint.ts'
import { requestTokens, requireIdToken, validateTokenGrant } from './token-endpoint.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse, refusal } from './translate.ts'

/** The parameter that identifies the user, by default its `subject`; with a `subject` the ID token must be about it. */
export type LoginHint =
  | { readonly name: 'login_hint'; readonly value?: undefined; readonly subject: string }
  | { readonly name: string; readonly value: string; readonly subject?: string }

export interface BackchannelRequest {
  /** `scope` and further parameters; the properties below override them. */
  readonly parameters: ReadonlyMap<string, string>
  readonly hint: LoginHint
  readonly bindingMessage: string
  /** Seconds. */
  readonly requestedExpiry: number
  /** JSON of `authorization_details` (RFC 9396). */
  readonly authorizationDetails?: string
  readonly signal?: AbortSignal
}

interface Started {
  readonly authReqId: string
  /** Seconds. */
  readonly expiresIn: number
  readonly interval: number
}

const GRANT_TYPE = 'urn:openid:params:grant-type:ciba'

/** Default interval between polls and increment after `slow_down`, in seconds (sections 7.3 and 11). */
const INTERVAL = 5
/** Maximum to which the interval doubles while the provider times out, in seconds. */
const PATIENT_INTERVAL = 60
/** Longest expiry in seconds; timers overflow after some weeks. */
const LONGEST = 86_400

function toForm({ issuer }: ServerMetadata, request: BackchannelRequest): URLSearchParams {
  const { authorizationDetails, bindingMessage, hint, parameters, requestedExpiry } = request
  const owned = {
    binding_message: bindingMessage,
    requested_expiry: String(requestedExpiry),
    authorization_details: authorizationDetails,
  }
  const { name, value = JSON.stringify({ format: 'iss_sub', iss: issuer, sub: hint.subject }) } = hint
  const all = new Map([...parameters, [name, value], ...Object.entries(defined(owned))])
  return new URLSearchParams([...all])
}

function readStart(response: ProviderResponse): Started {
  const { auth_req_id: authReqId, expires_in: expiresIn, interval } = response.body ?? {}
  const seconds = Number(expiresIn)
  const pace = Number(interval)
  if (typeof authReqId !== 'string' || authReqId === '' || !(seconds > 0))
    throw invalidResponse('auth_req_id or expires_in is missing.', response)
  return { authReqId, expiresIn: Math.min(seconds, LONGEST), interval: pace > 0 ? pace : INTERVAL }
}

async function start(
  provider: Provider,
  metadata: ServerMetadata,
  request: BackchannelRequest,
): Promise<Started> {
  const endpoint = 'backchannelAuthenticationEndpoint'
  const isAdvertised = metadata[endpoint] !== undefined || metadata.unusable.has(wireNames[endpoint])
  if (!isAdvertised && !hasAlias(metadata, endpoint, provider.config))
    throw new BackchannelAuthenticationError('BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR')
  return call(
    { provider, metadata, endpoint, ...defined({ signal: request.signal }) },
    async ({ authentication, client, options, server }) => {
      const parameters = toForm(metadata, request)
      const form = await toRequestForm(provider.config, metadata, 'backchannel', parameters)
      return backchannelAuthenticationRequest(server, client, authentication, form, options)
    },
    readStart,
  )
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return
  throw new BackchannelAuthenticationError('BACKCHANNEL_AUTHENTICATION_ABORTED', { cause: signal.reason })
}

/** Returns what `work` returns. If it fails after the signal was aborted, throws that instead. */
export async function orAborted<T>(signal: AbortSignal | undefined, work: MaybePromise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    checkAborted(signal)
    throw error
  }
}

/** Returns the seconds until the next poll after this error (CIBA section 11); rethrows an error that ends the flow. */
function intervalAfter(error: OAuthError, interval: number): number {
  if (error.error === 'slow_down') return interval + INTERVAL
  if (error.error === 'authorization_pending') return interval
  if (!error.transient) throw error
  if (error.code !== 'REQUEST_TIMEOUT') return interval
  return Math.max(interval, Math.min(2 * interval, PATIENT_INTERVAL))
}

/**
 * Polls until the user has decided, no faster than the provider allows, and for as long as a poll fits into the time. Temporary
 * failures are retried. Throws `expired_token` at once when the request expires before the next poll.
 */
async function poll(
  { config: { clock, log } }: Provider,
  { expiresIn, interval: first }: Started,
  waitFor: (seconds: number) => Promise<void>,
  requestOnce: () => Promise<TokenResponse>,
): Promise<TokenResponse> {
  const began = clock()
  let [interval, wait] = [first, first]
  for (let waited = 0; Math.max(waited, clock() - began) + wait <= expiresIn; ) {
    waited += wait
    await waitFor(wait)
    try {
      return await requestOnce()
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      interval = intervalAfter(error, interval)
      reportFailure(log, error)
      wait = Math.max(interval, error.retryAfter ?? 0)
    }
  }
  throw refusal({ error: 'expired_token' })
}

/**
 * Authenticates a user on another device and returns the tokens (OpenID Connect Client-Initiated Backchannel
 * Authentication 1.0, poll mode). The ID token must be about the requested user, of the requested organization if there is
 * one, and of an authentication that was recent enough for a requested `max_age` when the request began. Throws `OAuthError`
 * (`error`: `access_denied`, `expired_token` …), `DiscoveryError`, and `BackchannelAuthenticationError` if the provider does not
 * support it or the signal aborts it.
 */
export async function authenticateByBackchannel(
  provider: Provider,
  request: BackchannelRequest,
  pause: Pause = realPause,
): Promise<GrantWithIdToken> {
  const { clock } = provider.config
  const { hint, signal } = request
  checkAborted(signal)
  const metadata = await orAborted(signal, provider.metadata())
  const startedAt = clock()
  const started = await orAborted(signal, start(provider, metadata, request))
  const waitFor = (seconds: number): Promise<void> => pause(seconds * 1000, signal)
  let requestedAt = startedAt
  const response = await poll(provider, started, waitFor, () => {
    requestedAt = clock()
    const parameters = { auth_req_id: started.authReqId }
    return orAborted(signal, requestTokens(defined({ provider, metadata, signal }), GRANT_TYPE, parameters))
  })
  const maxAge = request.parameters.get('max_age')
  const checks = defined({
    startedAt,
    ageAt: startedAt,
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
    organization: request.parameters.get('organization'),
    subject: hint.subject,
  })
  const grant = validateTokenGrant(provider, response, checks, requestedAt)
  return requireIdToken(await orAborted(signal, grant))
}
