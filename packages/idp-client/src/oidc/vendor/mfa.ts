import type { Authenticator, MfaChallengeResult, MfaEnrollment } from '../../config/mfa.ts'
import type { ChallengeRequest, EnrollmentRequest, FactorProof } from '../../config/mfa-options.ts'
import type { VendorKey } from '../../config/vendor.ts'
import type { ProviderEndpoint } from '../../errors/provider.ts'
import { defined } from '../../lib/objects.ts'
import type { ProviderRequest } from '../call.ts'
import { readResponse } from '../call.ts'
import { clientCredentials } from '../client-auth.ts'
import type { IdTokenChecks } from '../id-token.ts'
import type { JsonObject } from '../json.ts'
import { parseObjects, stringList, stringProperty } from '../json.ts'
import type { Provider } from '../provider.ts'
import type { RequestProgress, TokenGrant } from '../token-endpoint.ts'
import { requestTokens, validateTokenGrant, withProgress } from '../token-endpoint.ts'
import type { ProviderResponse } from '../translate.ts'
import { invalidResponse, oauthErrorAt, refusalIn, unexpectedStatus } from '../translate.ts'

/**
 * Client of the provider's MFA API: JSON in both directions, authorized by the token of `mfa_required`. Every function
 * throws `OAuthError`; those with client authentication also `DiscoveryError` and `InvalidConfigurationError`.
 */

const paths = {
  mfa_authenticators: 'mfaAuthenticatorsPath',
  mfa_challenge: 'mfaChallengePath',
  mfa_associate: 'mfaAssociatePath',
} as const satisfies Partial<Record<ProviderEndpoint, VendorKey>>

const JSON_HEADERS = { accept: 'application/json' }

function withJson(body: JsonObject, authorization = {}): ProviderRequest {
  const headers = { ...JSON_HEADERS, 'content-type': 'application/json', ...authorization }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Sends one request, without retries. */
async function call<T>(
  { config, send }: Provider,
  endpoint: keyof typeof paths,
  request: ProviderRequest,
  read: (text: string, response: ProviderResponse) => T,
): Promise<T> {
  try {
    const address = new URL(config.vendor[paths[endpoint]], config.provider.url).href
    const received = await send(address, request)
    const response = { ...readResponse(received, config.clock()), challenge: undefined }
    if (!received.response.ok) throw refusalIn(response) ?? unexpectedStatus(response)
    return read(received.text, response)
  } catch (thrown) {
    throw oauthErrorAt(endpoint, thrown)
  }
}

function toChannel({ config }: Provider, wire: string | undefined): string | undefined {
  return wire === config.vendor.mfaPushChannel ? 'push' : wire
}

function readAuthenticator(provider: Provider, entry: JsonObject, response: ProviderResponse): Authenticator {
  const id = stringProperty(entry, 'id')
  const authenticatorType = stringProperty(entry, 'authenticator_type')
  if (id === undefined || authenticatorType === undefined)
    throw invalidResponse('An entry has no id or no authenticator_type.', response)
  return defined({
    id,
    authenticatorType,
    type: stringProperty(entry, 'type'),
    active: entry['active'] === true,
    name: stringProperty(entry, 'name'),
    phoneNumber: stringProperty(entry, 'phone_number'),
    oobChannel: toChannel(provider, stringProperty(entry, 'oob_channel')),
    createdAt: stringProperty(entry, 'created_at'),
    lastAuthenticatedAt: stringProperty(entry, 'last_auth'),
  })
}

/** Returns the factors that the user has enrolled. */
export function listAuthenticators(provider: Provider, mfaToken: string): Promise<Authenticator[]> {
  const request = { headers: { ...JSON_HEADERS, ...bearer(mfaToken) } }
  return call(provider, 'mfa_authenticators', request, (text, response) => {
    const entries = parseObjects(text)
    if (!entries) throw invalidResponse('It is not a list.', response)
    return entries.map((entry) => readAuthenticator(provider, entry, response))
  })
}

/** Makes the provider send a code or a notification, or confirm that the code of an authenticator app is accepted. */
export async function startChallenge(
  provider: Provider,
  mfaToken: string,
  { authenticatorId, challengeType }: ChallengeRequest,
): Promise<MfaChallengeResult> {
  const credentials = await clientCredentials(provider, await provider.metadata())
  const body = defined({
    ...credentials,
    mfa_token: mfaToken,
    challenge_type: challengeType,
    authenticator_id: authenticatorId,
  })
  return call(provider, 'mfa_challenge', withJson(body), (_text, response) => {
    const type = stringProperty(response.body, 'challenge_type')
    if (type === undefined) throw invalidResponse('challenge_type is missing.', response)
    return defined({
      challengeType: type,
      oobCode: stringProperty(response.body, 'oob_code'),
      bindingMethod: stringProperty(response.body, 'binding_method'),
    })
  })
}

function readEnrollment(
  provider: Provider,
  request: EnrollmentRequest,
  response: ProviderResponse,
): MfaEnrollment {
  const { body } = response
  if (!body) throw invalidResponse('It is not a JSON object.', response)
  const id = stringProperty(body, 'id')
  const barcodeUri = stringProperty(body, 'barcode_uri')
  const codes = stringList(body, 'recovery_codes') ?? []
  const recoveryCodes = codes.length > 0 ? codes : undefined
  if (request.type === 'otp') {
    const secret = stringProperty(body, 'secret')
    if (secret === undefined || barcodeUri === undefined)
      throw invalidResponse('secret or barcode_uri is missing.', response)
    return defined({ authenticatorType: 'otp' as const, id, secret, barcodeUri, recoveryCodes })
  }
  if (stringProperty(body, 'authenticator_type') !== 'oob')
    throw invalidResponse('authenticator_type is missing or not oob.', response)
  return defined({
    authenticatorType: 'oob' as const,
    id,
    oobChannel: toChannel(provider, stringProperty(body, 'oob_channel')) ?? request.channels[0],
    name: stringProperty(body, 'name'),
    oobCode: stringProperty(body, 'oob_code'),
    bindingMethod: stringProperty(body, 'binding_method'),
    barcodeUri,
    recoveryCodes,
  })
}

/** Starts the enrolment of a factor, which its first verification completes. */
export async function associate(
  provider: Provider,
  mfaToken: string,
  request: EnrollmentRequest,
): Promise<MfaEnrollment> {
  const { channels, email, phoneNumber, type } = request
  const credentials = await clientCredentials(provider, await provider.metadata())
  const push = provider.config.vendor.mfaPushChannel
  const body = defined({
    ...credentials,
    authenticator_types: [type],
    oob_channels: channels?.map((channel) => (channel === 'push' ? push : channel)),
    phone_number: phoneNumber,
    email,
  })
  return call(provider, 'mfa_associate', withJson(body, bearer(mfaToken)), (_text, response) =>
    readEnrollment(provider, request, response),
  )
}

export interface FactorRequest extends Pick<IdTokenChecks, 'previous' | 'subject'>, RequestProgress {
  /** The provider's own `mfa_token`, decrypted. */
  readonly mfaToken: string
  readonly proof: FactorProof
  /** Audience of the refused token request. */
  readonly audience?: string
  readonly scope?: string
}

export interface FactorGrant extends TokenGrant {
  /** Replacement of a used recovery code. */
  readonly recoveryCode?: string
}

const grantTypes = {
  otp: 'mfaOtpGrantType',
  oob: 'mfaOobGrantType',
  'recovery-code': 'mfaRecoveryCodeGrantType',
} as const satisfies Record<FactorProof['kind'], VendorKey>

function toParameters(proof: FactorProof): Record<string, string> {
  switch (proof.kind) {
    case 'otp':
      return { otp: proof.otp }
    case 'oob':
      return defined({ oob_code: proof.oobCode, binding_code: proof.bindingCode })
    case 'recovery-code':
      return { recovery_code: proof.recoveryCode }
  }
}

/**
 * Verifies another factor and returns the requested tokens. Throws `OAuthError` (`error` `invalid_grant`: wrong code;
 * `authorization_pending`: not approved yet; `mfa_required`: one more factor is needed) and `DiscoveryError`.
 */
export async function verifyFactor(provider: Provider, request: FactorRequest): Promise<FactorGrant> {
  const { audience, mfaToken, previous, proof, scope, subject } = request
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const parameters = defined({ mfa_token: mfaToken, ...toParameters(proof), audience, scope })
  const grantType = provider.config.vendor[grantTypes[proof.kind]]
  const target = { provider: withProgress(provider, request), metadata }
  const response = await requestTokens(target, grantType, parameters)
  const grant = await validateTokenGrant(provider, response, defined({ subject, previous }), now)
  return defined({ ...grant, recoveryCode: stringProperty(response.body, 'recovery_code') })
}
