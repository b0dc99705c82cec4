import type { Authenticator, MfaChallengeResult, MfaEnrollment } from '../config/mfa.ts'
import type { ChallengeRequest, EnrollmentRequest } from '../config/mfa-options.ts'
import type { VendorKey } from '../config/vendor.ts'
import type { ProviderEndpoint } from '../errors/provider.ts'
import { clientCredentials } from './client-auth.ts'
import type { ProviderRequest } from './fetch.ts'
import type { JsonObject } from './json.ts'
import { parseObject, parseObjects, stringList, stringMember } from './json.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse, oauthError, refusalIn, retryAfterSeconds, unexpectedStatus } from './translate.ts'
import { vendorValue } from './vendor.ts'

/**
 * The provider's MFA API: JSON in both directions, authorised by the token that came with `mfa_required`. Every function
 * throws `OAuthError`, and those that authenticate the client `DiscoveryError` and `InvalidConfigurationError`.
 */

interface Endpoint {
  readonly path: VendorKey
  readonly name: ProviderEndpoint
}

const AUTHENTICATORS: Endpoint = { path: 'mfaAuthenticatorsPath', name: 'mfa_authenticators' }
const CHALLENGE: Endpoint = { path: 'mfaChallengePath', name: 'mfa_challenge' }
const ASSOCIATE: Endpoint = { path: 'mfaAssociatePath', name: 'mfa_associate' }

const JSON_HEADERS = { accept: 'application/json' }

function withJson(body: JsonObject): ProviderRequest {
  const headers = { ...JSON_HEADERS, 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

/** One request, never repeated. */
async function ask<T>(
  { config, send }: Provider,
  { name, path }: Endpoint,
  request: ProviderRequest,
  read: (text: string, answer: ProviderResponse) => T,
): Promise<T> {
  try {
    const response = await send(new URL(vendorValue(config, path), config.provider.url).href, request)
    const text = await response.text()
    const retryAfter = retryAfterSeconds(response.headers.get('retry-after'), config.clock())
    const answer = { status: response.status, body: parseObject(text), retryAfter }
    if (!response.ok) throw refusalIn(answer) ?? unexpectedStatus(answer)
    return read(text, answer)
  } catch (thrown) {
    const error = oauthError(thrown)
    error.endpoint ??= name
    throw error
  }
}

function toChannel({ config }: Provider, wire: string | undefined): string | undefined {
  return wire === vendorValue(config, 'mfaPushChannel') ? 'push' : wire
}

/** Only members that are there. */
function present<T extends object>(members: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T
}

function authenticatorIn(provider: Provider, entry: JsonObject, answer: ProviderResponse): Authenticator {
  const id = stringMember(entry, 'id')
  const authenticatorType = stringMember(entry, 'authenticator_type')
  if (id === undefined || authenticatorType === undefined) {
    throw invalidResponse('An entry has no id or no authenticator_type.', answer)
  }
  return present<Authenticator>({
    id,
    authenticatorType,
    type: stringMember(entry, 'type'),
    active: entry['active'] === true,
    name: stringMember(entry, 'name'),
    phoneNumber: stringMember(entry, 'phone_number'),
    oobChannel: toChannel(provider, stringMember(entry, 'oob_channel')),
    createdAt: stringMember(entry, 'created_at'),
    lastAuthenticatedAt: stringMember(entry, 'last_auth'),
  })
}

/** The factors that the user has enrolled. */
export function listAuthenticators(provider: Provider, mfaToken: string): Promise<Authenticator[]> {
  const request = { headers: { ...JSON_HEADERS, ...bearer(mfaToken) } }
  return ask(provider, AUTHENTICATORS, request, (text, answer) => {
    const entries = parseObjects(text)
    if (!entries) throw invalidResponse('It is no list.', answer)
    return entries.map((entry) => authenticatorIn(provider, entry, answer))
  })
}

/** Has the provider send a code or a notification, or say that a code of an app will do. */
export async function startChallenge(
  provider: Provider,
  mfaToken: string,
  { authenticatorId, challengeType }: ChallengeRequest,
): Promise<MfaChallengeResult> {
  const credentials = await clientCredentials(provider.config, await provider.metadata())
  const body = {
    ...credentials,
    mfa_token: mfaToken,
    challenge_type: challengeType,
    ...(authenticatorId === undefined ? {} : { authenticator_id: authenticatorId }),
  }
  return ask(provider, CHALLENGE, withJson(body), (_text, answer) => {
    const type = answer.body ? stringMember(answer.body, 'challenge_type') : undefined
    if (!answer.body || type === undefined) throw invalidResponse('challenge_type is missing.', answer)
    return present<MfaChallengeResult>({
      challengeType: type,
      oobCode: stringMember(answer.body, 'oob_code'),
      bindingMethod: stringMember(answer.body, 'binding_method'),
    })
  })
}

function enrollmentIn(provider: Provider, asked: EnrollmentRequest, answer: ProviderResponse): MfaEnrollment {
  const { body } = answer
  if (!body) throw invalidResponse('It is not a JSON object.', answer)
  const id = stringMember(body, 'id')
  const barcodeUri = stringMember(body, 'barcode_uri')
  const codes = stringList(body, 'recovery_codes')
  const recoveryCodes = codes && codes.length > 0 ? [...codes] : undefined
  if (asked.type === 'otp') {
    const secret = stringMember(body, 'secret')
    if (secret === undefined || barcodeUri === undefined) {
      throw invalidResponse('secret or barcode_uri is missing.', answer)
    }
    return present<MfaEnrollment>({ authenticatorType: 'otp', id, secret, barcodeUri, recoveryCodes })
  }
  if (stringMember(body, 'authenticator_type') !== 'oob') {
    throw invalidResponse('authenticator_type is missing or not oob.', answer)
  }
  return present<MfaEnrollment>({
    authenticatorType: 'oob',
    id,
    oobChannel: toChannel(provider, stringMember(body, 'oob_channel')) ?? asked.channels[0],
    name: stringMember(body, 'name'),
    oobCode: stringMember(body, 'oob_code'),
    bindingMethod: stringMember(body, 'binding_method'),
    barcodeUri,
    recoveryCodes,
  })
}

/** Begins the enrolment of a factor, which its first verification completes. */
export async function associate(
  provider: Provider,
  mfaToken: string,
  asked: EnrollmentRequest,
): Promise<MfaEnrollment> {
  const { channels, email, phoneNumber, type } = asked
  const credentials = await clientCredentials(provider.config, await provider.metadata())
  const push = vendorValue(provider.config, 'mfaPushChannel')
  const request = withJson({
    ...credentials,
    authenticator_types: [type],
    ...(channels ? { oob_channels: channels.map((channel) => (channel === 'push' ? push : channel)) } : {}),
    ...(phoneNumber === undefined ? {} : { phone_number: phoneNumber }),
    ...(email === undefined ? {} : { email }),
  })
  const headers = { ...request.headers, ...bearer(mfaToken) }
  return ask(provider, ASSOCIATE, { ...request, headers }, (_text, answer) =>
    enrollmentIn(provider, asked, answer),
  )
}
