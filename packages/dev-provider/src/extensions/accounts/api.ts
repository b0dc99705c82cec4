import { createHash } from 'node:crypto'
import type { ProviderState } from '../../oidc/state.ts'
import { ACCOUNT_PATHS, CONNECT_PATH } from '../../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../../wire/message.ts'
import { getPath, isoTime, isRecord, jsonResponse, parseJsonBody, parseQuery } from '../../wire/message.ts'
import type { Caller } from './access.ts'
import { authorizeCall } from './access.ts'
import type { ValidationError } from './problem.ts'
import { Problem } from './problem.ts'
import type { AcceptedRequest } from './requests.ts'
import type { ConnectedAccount } from './vault.ts'

export type AccountEndpoint = 'account-connect' | 'account-complete' | 'account-list' | 'account-delete'

const SCOPES = {
  create: 'create:me:connected_accounts',
  read: 'read:me:connected_accounts',
  delete: 'delete:me:connected_accounts',
} as const

/** All scopes of the account API. */
export const ACCOUNT_SCOPES: readonly string[] = Object.values(SCOPES)

/** Scope of an upstream token when an application asks for none. */
export const DEFAULT_UPSTREAM_SCOPES: readonly string[] = ['upstream:read']

/** Seconds from the first call to the decision of the user. */
const REQUEST_TTL = 300
const LARGEST_PAGE = 20

/** Members of a request body, read one by one; what is wrong with them is collected. */
interface Reader {
  text(field: string, longest: number, shortest?: number): string
  demand(condition: boolean, field: string, detail: string): void
  /** Throws what was collected. */
  finish(): void
}

function createReader(body: Readonly<Record<string, unknown>>): Reader {
  const errors: ValidationError[] = []
  return {
    text: (field, longest, shortest = 1) => {
      const value = body[field]
      if (typeof value === 'string' && value.length >= shortest && value.length <= longest) return value
      errors.push({ field, detail: `${field} must be a text of ${shortest} to ${longest} characters` })
      return ''
    },
    demand: (condition, field, detail) => {
      // One complaint about a member is enough.
      if (!condition && !errors.some((error) => error.field === field)) errors.push({ field, detail })
    },
    finish: () => {
      if (errors.length > 0) {
        throw new Problem(400, 'The request is not valid.', { validationErrors: errors })
      }
    },
  }
}

function parseBody(call: Call): Record<string, unknown> {
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) {
    throw new Problem(415, 'The body must be application/json.')
  }
  const body = parseJsonBody(call)
  if (!body) throw new Problem(400, 'The body is no JSON object.')
  return body
}

function isScopeList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= 100 &&
    value.every((scope) => typeof scope === 'string' && /^\S{1,255}$/.test(scope))
  )
}

async function connect(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const { user, clientId } = await authorizeCall(state, call, SCOPES.create)
  const body = parseBody(call)
  const read = createReader(body)
  const connection = read.text('connection', 128)
  const redirectUri = read.text('redirect_uri', 2048)
  const wish = {
    connection,
    redirectUri,
    state: read.text('state', 4096),
    codeChallenge: read.text('code_challenge', 128, 43),
  }
  const { scopes = DEFAULT_UPSTREAM_SCOPES, authorization_params: upstream = {} } = body
  read.demand(state.connections.has(connection), 'connection', 'there is no such connection')
  read.demand(body['code_challenge_method'] === 'S256', 'code_challenge_method', 'it must be S256')
  read.demand(isScopeList(scopes), 'scopes', 'scopes must be a list of 1 to 100 scopes')
  read.demand(isRecord(upstream), 'authorization_params', 'authorization_params must be an object')
  const client = await state.engine.Client.find(clientId)
  const allowed =
    URL.canParse(redirectUri) && !redirectUri.includes('#') && client?.redirectUriAllowed(redirectUri)
  read.demand(allowed === true, 'redirect_uri', 'redirect_uri is not one of this application')
  read.finish()

  const hint = isRecord(upstream) ? upstream['login_hint'] : undefined
  const request = state.connectRequests.open(
    {
      ...wish,
      sub: user.sub,
      clientId,
      scopes: isScopeList(scopes) ? scopes : [],
      ...(typeof hint === 'string' ? { hint } : {}),
    },
    REQUEST_TTL,
  )
  return jsonResponse(201, {
    connect_uri: new URL(CONNECT_PATH, state.issuer).href,
    connect_params: { ticket: request.ticket },
    auth_session: request.authSession,
    expires_in: REQUEST_TTL,
  })
}

function onTheWire({ id, connection, scopes, createdAt, expiresAt }: ConnectedAccount): object {
  return {
    id,
    connection,
    access_type: 'offline',
    scopes,
    created_at: isoTime(createdAt),
    ...(expiresAt === undefined ? {} : { expires_at: isoTime(expiresAt) }),
  }
}

/** Proof that the application started the connection: the code from the redirect, and its verifier. */
interface Evidence {
  readonly authSession: string
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
}

function acceptedBy(state: ProviderState, caller: Caller, evidence: Evidence): AcceptedRequest {
  const request = state.connectRequests.accepted(evidence.authSession)
  const challenge = createHash('sha256').update(evidence.verifier).digest('base64url')
  const proven =
    request?.sub === caller.user.sub &&
    request.clientId === caller.clientId &&
    request.connectCode === evidence.code &&
    request.redirectUri === evidence.redirectUri &&
    request.codeChallenge === challenge
  if (!proven) {
    throw new Problem(400, 'The request to connect an account is unknown, expired, used or another one’s.')
  }
  return request
}

async function complete(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const caller = await authorizeCall(state, call, SCOPES.create)
  const read = createReader(parseBody(call))
  const evidence = {
    authSession: read.text('auth_session', 64),
    code: read.text('connect_code', 46),
    redirectUri: read.text('redirect_uri', 2048),
    verifier: read.text('code_verifier', 128, 43),
  }
  read.finish()
  const request = acceptedBy(state, caller, evidence)
  state.connectRequests.finish(request)
  const { connection, name, scopes, sub } = request
  return jsonResponse(201, onTheWire(state.accounts.connect(sub, { connection, name, scopes })))
}

function parseInteger(text: string, largest: number): number | undefined {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= largest ? value : undefined
}

async function list(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const { user } = await authorizeCall(state, call, SCOPES.read)
  const query = parseQuery(call)
  const connection = query.get('connection')
  const cursor = query.get('from') ?? query.get('next')
  const from = cursor === null ? 1 : parseInteger(fromCursor(cursor), Number.MAX_SAFE_INTEGER)
  const take = query.has('take')
    ? parseInteger(query.get('take') ?? '', LARGEST_PAGE)
    : state.settings.accountPageSize
  const read = createReader({})
  read.demand(from !== undefined, 'from', 'from is not a cursor of this list')
  read.demand(take !== undefined, 'take', `take must be a number from 1 to ${LARGEST_PAGE}`)
  read.finish()
  const { accounts, next } = state.accounts.page(user.sub, {
    take: take ?? 1,
    from: from ?? 1,
    ...(connection === null ? {} : { connection }),
  })
  return jsonResponse(200, {
    accounts: accounts.map(onTheWire),
    ...(next === undefined ? {} : { next: toCursor(next) }),
  })
}

function toCursor(place: number): string {
  return Buffer.from(`place ${place}`).toString('base64url')
}

function fromCursor(cursor: string): string {
  return /^place (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1] ?? ''
}

async function disconnect(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const { user } = await authorizeCall(state, call, SCOPES.delete)
  const id = getPath(call).slice(ACCOUNT_PATHS.list.length + 1)
  if (!state.accounts.disconnect(user.sub, id)) throw new Problem(404, 'There is no such account.')
  return { status: 204, headers: { 'cache-control': 'no-store' }, body: Buffer.alloc(0) }
}

const HANDLERS = {
  'account-connect': { method: 'POST', handle: connect },
  'account-complete': { method: 'POST', handle: complete },
  'account-list': { method: 'GET', handle: list },
  'account-delete': { method: 'DELETE', handle: disconnect },
} as const

/** The vendor's API with which a user connects accounts of other providers, below `/me/v1/` of the origin. */
export async function accountApi(
  state: ProviderState,
  endpoint: AccountEndpoint,
  call: Call,
): Promise<BufferedResponse> {
  const { method, handle } = HANDLERS[endpoint]
  try {
    if (call.method !== method) {
      throw new Problem(405, `Use ${method}.`, { headers: { allow: method } })
    }
    return await handle(state, call)
  } catch (error) {
    if (error instanceof Problem) return error.toResponse()
    throw error
  }
}
