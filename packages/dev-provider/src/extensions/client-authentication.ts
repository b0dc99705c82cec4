import { decodeJwt } from 'jose'
import type { ProviderState } from '../oidc/state.ts'
import type { Endpoint } from '../wire/endpoints.ts'
import { PATHS } from '../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { jsonResponse, parseForm, parseJson, withBody } from '../wire/message.ts'
import { isRequestObject } from './request-objects.ts'

/** The audiences that a client assertion may have: the issuer, the token endpoint and the endpoint in use, or one. */
export type AssertionAudience = (typeof ASSERTION_AUDIENCES)[number]
export const ASSERTION_AUDIENCES = ['any', 'token_endpoint'] as const

/** The error of a wrong client secret: that of RFC 6749, or the one of Keycloak and Glewlwyd. */
export type WrongSecretError = (typeof WRONG_SECRET_ERRORS)[number]
export const WRONG_SECRET_ERRORS = ['invalid_client', 'unauthorized_client'] as const

/** Where clients authenticate. */
const ENDPOINTS: ReadonlySet<Endpoint> = new Set([
  'backchannelAuthentication',
  'introspection',
  'par',
  'revocation',
  'token',
])

interface Basic {
  readonly id: string
  readonly secret: string
}

/** The two halves of an `Authorization: Basic` header, as they were sent. */
function parseBasic(call: Call): Basic | undefined {
  const encoded = /^Basic (\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
  if (encoded === undefined) return undefined
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return { id, secret: secret.join(':') }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The client that authenticates in a call: by its header, a secret in the body, or a client assertion (RFC 7523). */
export function namedClient(call: Call): string | undefined {
  const basic = parseBasic(call)
  if (basic) return decoded(basic.id)
  const form = parseForm(call)
  const assertion = form.get('client_assertion')
  return form.get('client_id') ?? (assertion === null ? undefined : decodeJwt(assertion).sub)
}

/** How a call sends the secret of a client, and the client. */
function findSecret({ clients }: ProviderState, call: Call) {
  const basic = parseBasic(call)
  const form = parseForm(call)
  const inBody = form.has('client_secret') ? ('client_secret_post' as const) : undefined
  return {
    client: clients.find(basic ? decoded(basic.id) : (form.get('client_id') ?? '')),
    method: basic ? ('client_secret_basic' as const) : inBody,
  }
}

/** The request as a provider understands it that takes HTTP Basic literally, like RFC 7617 and unlike RFC 6749, 2.3.1. */
function takenLiterally(call: Call): Call {
  const basic = parseBasic(call)
  if (!basic) return call
  const pair = [basic.id, basic.secret].map(encodeURIComponent).join(':')
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  return { ...call, headers: { ...call.headers, authorization } }
}

/** A request at an endpoint where clients authenticate, as oidc-provider reads it. */
export function normalizeAuthentication({ settings }: ProviderState, endpoint: Endpoint, call: Call): Call {
  return settings.decodeBasic || !ENDPOINTS.has(endpoint) ? call : takenLiterally(call)
}

/** Refuses a client that authenticates in another way than the registered one. */
export function refusedMethod(
  state: ProviderState,
  endpoint: Endpoint,
  call: Call,
): BufferedResponse | undefined {
  if (!state.settings.enforceAuthMethod || !ENDPOINTS.has(endpoint)) return undefined
  const { client, method } = findSecret(state, call)
  const registered = client?.options.tokenEndpointAuthMethod ?? 'client_secret_basic'
  if (!client || method === undefined || method === registered) return undefined
  const refusal = jsonResponse(401, {
    error: 'invalid_client',
    error_description: `the client is registered for ${registered}`,
  })
  return { ...refusal, headers: { ...refusal.headers, 'www-authenticate': 'Basic' } }
}

/** Returns the response with the configured error code, if it rejects the secret of a client that exists. */
export function withWrongSecretError(
  state: ProviderState,
  endpoint: Endpoint,
  call: Call,
  response: BufferedResponse,
): BufferedResponse {
  const { wrongSecretError: error } = state.settings
  if (error === 'invalid_client' || response.status !== 401 || !ENDPOINTS.has(endpoint)) return response
  const { client, method } = findSecret(state, call)
  const body = parseJson(response)
  if (body?.['error'] !== 'invalid_client' || !client || method === undefined) return response
  const { failure } = response
  return {
    ...withBody(response, JSON.stringify({ ...body, error })),
    ...(failure ? { failure: { ...failure, error } } : {}),
  }
}

/** @throws InvalidClientAuth for a request object, or another audience than the token endpoint where only that is good */
export function assertAssertion(
  { issuer, oidc: { errors }, settings }: ProviderState,
  { aud, header }: { readonly aud?: unknown; readonly header: Readonly<Record<string, unknown>> },
): void {
  if (isRequestObject(header)) throw new errors.InvalidClientAuth('a request object is no client assertion')
  if (settings.assertionAudience === 'any' || aud === issuer + PATHS.token) return
  throw new errors.InvalidClientAuth('audience (aud) must equal the token endpoint url')
}
