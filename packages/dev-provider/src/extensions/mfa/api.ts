import { engineResponse } from '../../oidc/inject.ts'
import type { ProviderState } from '../../oidc/state.ts'
import { PATHS } from '../../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../../wire/message.ts'
import { getBearer, isoTime, jsonResponse, parseForm, parseJson, parseJsonBody } from '../../wire/message.ts'
import { associate } from './associate.ts'
import { FACTOR_TYPES } from './demand.ts'
import type { Factor } from './factors.ts'
import { sendMessage, toChannel, WIRE_CHANNELS } from './messages.ts'
import { Refused } from './refused.ts'
import type { MfaContext } from './state.ts'

export type MfaEndpoint = 'mfa-authenticators' | 'mfa-challenge' | 'mfa-associate'

type Fields = Readonly<Record<string, unknown>>

function getText(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parseFields(call: Call): Fields {
  const fields = parseJsonBody(call)
  if (fields) return fields
  const form = Object.fromEntries(parseForm(call))
  if (Object.keys(form).length === 0) throw new Refused(400, 'invalid_request', 'the body is no JSON object')
  return form
}

function getContext({ clock, mfa }: ProviderState, token: string | undefined): MfaContext {
  const context = token === undefined ? undefined : mfa.contexts.get(token)
  if (!context) throw new Refused(401, 'invalid_token', 'the mfa_token is missing, unknown or used')
  if (context.expiresAt <= clock.now()) throw new Refused(401, 'expired_token', 'the mfa_token has expired')
  return context
}

const CREDENTIALS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type']

/**
 * Authenticates the client as the token endpoint does, by asking oidc-provider to revoke a token that does not exist.
 * Throws its refusal.
 */
async function authenticate(state: ProviderState, call: Call, fields: Fields): Promise<void> {
  const form = new URLSearchParams({ token: 'none' })
  for (const name of CREDENTIALS) {
    const value = getText(fields, name)
    if (value !== undefined) form.set(name, value)
  }
  const { authorization, host } = call.headers
  const response = await engineResponse(state, {
    ...call,
    method: 'POST',
    url: state.mountPath + PATHS.revocation,
    headers: {
      host,
      'content-type': 'application/x-www-form-urlencoded',
      ...(authorization?.toLowerCase().startsWith('basic ') ? { authorization } : {}),
    },
    body: Buffer.from(form.toString()),
  })
  if (response.status === 200) return
  const { error, error_description: description } = parseJson(response) ?? {}
  throw new Refused(response.status, String(error), String(description))
}

function parseClientId(call: Call, fields: Fields): string | undefined {
  const basic = /^basic (\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
  if (basic === undefined) return getText(fields, 'client_id')
  return decodeURIComponent(Buffer.from(basic, 'base64').toString('utf8').split(':', 1)[0] ?? '')
}

function onTheWire(factor: Factor): object {
  const channel = toChannel(factor.kind)
  const name = factor.address === undefined ? undefined : masked(factor.address)
  return {
    id: factor.id,
    authenticator_type: channel === undefined ? 'otp' : 'oob',
    type: FACTOR_TYPES[factor.kind],
    active: factor.active,
    created_at: isoTime(factor.createdAt),
    ...(channel === undefined ? {} : { oob_channel: WIRE_CHANNELS[channel] }),
    ...(name === undefined ? {} : { name }),
    ...(name !== undefined && FACTOR_TYPES[factor.kind] === 'phone' ? { phone_number: name } : {}),
    ...(factor.lastUsedAt === undefined ? {} : { last_auth: isoTime(factor.lastUsedAt) }),
  }
}

/** A phone number or e-mail address as its owner recognises it and nobody else can use it. */
function masked(address: string): string {
  const [local = '', domain] = address.split('@')
  if (domain !== undefined) return `${local.slice(0, 2)}***@${domain.slice(0, 1)}***`
  return 'X'.repeat(Math.max(0, address.length - 4)) + address.slice(-4)
}

function authenticators({ mfa }: ProviderState, { sub }: MfaContext): BufferedResponse {
  const recovery = mfa.factors.recovery(sub)
  const type = 'recovery-code'
  return jsonResponse(200, [
    ...(recovery ? [{ id: recovery.id, authenticator_type: type, type, active: true }] : []),
    ...mfa.factors.list(sub).map(onTheWire),
  ])
}

/** The factor that a challenge is for: the one that is named, else the newest of an accepted type. */
function challenged(state: ProviderState, context: MfaContext, fields: Fields): Factor {
  const { missing, sub } = context
  const usable = state.mfa.factors
    .list(sub)
    .filter(({ active, kind }) => active && (missing.length === 0 || missing.includes(kind)))
  if (usable.length === 0) {
    throw new Refused(403, 'association_required', 'the user has no factor yet; associate one')
  }
  const id = getText(fields, 'authenticator_id')
  const named = usable.filter((factor) => id === undefined || factor.id === id)
  if (named.length === 0) throw new Refused(400, 'invalid_request', 'the user has no such authenticator')
  const types = (getText(fields, 'challenge_type') ?? 'otp oob').split(' ')
  const factor = named.findLast(({ kind }) => types.includes(kind === 'otp' ? 'otp' : 'oob'))
  if (factor) return factor
  throw new Refused(400, 'unsupported_challenge_type', 'the user has no factor of a requested challenge type')
}

async function challenge(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const fields = parseFields(call)
  await authenticate(state, call, fields)
  const context = getContext(state, getText(fields, 'mfa_token'))
  if (context.clientId !== parseClientId(call, fields)) {
    throw new Refused(400, 'invalid_request', 'the mfa_token was issued to another client')
  }
  const factor = challenged(state, context, fields)
  const channel = toChannel(factor.kind)
  if (channel === undefined) return jsonResponse(200, { challenge_type: 'otp' })
  const { id, bindingCode } = sendMessage(state, context, factor, channel)
  return jsonResponse(200, {
    challenge_type: 'oob',
    oob_code: id,
    ...(bindingCode === undefined ? {} : { binding_method: 'prompt' }),
  })
}

const HANDLERS: Record<
  MfaEndpoint,
  { method: string; handle: (state: ProviderState, call: Call) => Promise<BufferedResponse> }
> = {
  'mfa-authenticators': {
    method: 'GET',
    handle: async (state, call) => authenticators(state, getContext(state, getBearer(call))),
  },
  'mfa-challenge': { method: 'POST', handle: challenge },
  'mfa-associate': {
    method: 'POST',
    handle: async (state, call) => {
      const context = getContext(state, getBearer(call))
      const fields = parseFields(call)
      // Hosted providers are content with the mfa_token; credentials that are sent have to be right.
      if (CREDENTIALS.some((name) => name !== 'client_id' && name in fields)) {
        await authenticate(state, call, fields)
      }
      return associate(state, context, fields)
    },
  },
}

/** The vendor's API for applications that show the second step themselves. Errors are those of OAuth, as JSON. */
export async function mfaApi(
  state: ProviderState,
  endpoint: MfaEndpoint,
  call: Call,
): Promise<BufferedResponse> {
  const { method, handle } = HANDLERS[endpoint]
  try {
    if (call.method !== method) throw new Refused(405, 'invalid_request', `use ${method}`, { allow: method })
    return await handle(state, call)
  } catch (error) {
    if (error instanceof Refused) return error.toResponse()
    throw error
  }
}
