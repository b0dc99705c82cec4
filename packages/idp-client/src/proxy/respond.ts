import type { Application, Engine } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import type { ApiGuardResult } from '../guards/guards.ts'
import type { ApiGuard } from '../guards/host-guards.ts'
import { rejection } from '../guards/rejection.ts'
import { discard } from '../http/api-call.ts'
import type { Exchange, Transfer } from '../http/exchange.ts'
import { streamedResponse } from '../http/responses.ts'
import { publicPrefix } from '../http/return-path.ts'
import { asIdpError } from '../log/failure.ts'
import { reportRefusal } from '../log/refusal.ts'
import { refusesToken } from '../oidc/dpop.ts'
import { mfaRequiredJson } from '../routes/fail-with-json.ts'
import { passThrough } from '../routes/pass-through.ts'
import { toStatus } from '../routes/status.ts'
import { endsAt } from '../session/model/lifetime.ts'
import { onSessionEnd } from '../session/open-streams.ts'
import { admit, isBackground } from './admission.ts'
import { readWhole, toDownload } from './download.ts'
import { assertReadable, toRequestHeaders, toResponseHeaders } from './headers.ts'
import { Limits } from './limits.ts'
import type { ProxyConfig } from './options.ts'
import { toPublic, toUpstream } from './path.ts'
import type { Caller } from './token.ts'
import { currentToken, replaceRefused } from './token.ts'
import { MAX_WHOLE_BYTES, Upload } from './upload.ts'
import type { UpstreamRequest } from './upstream.ts'
import { lacksBinding, repeatedBody, sendWithToken, toUpstreamError } from './upstream.ts'

/** Marks responses of this library, so that a 401 of the API is not taken for one of the session. */
const OWN_FAILURE = 'idp-client-error'

function asOwn(response: Response): Response {
  response.headers.set(OWN_FAILURE, '1')
  return response
}

/** The settings of one proxy. */
export interface ProxyRules {
  readonly config: ProxyConfig
  /** Absent: a session is all that is required. */
  readonly guard: ApiGuard<ApiGuardResult> | undefined
}

/** Responds with a failure of this library, and reports it. */
function toFailure({ engine }: Application, thrown: unknown, { methods }: ProxyConfig): Response {
  const error = asIdpError(thrown)
  const response = asOwn(mfaRequiredJson(error) ?? rejection(error.code, { status: toStatus(error) }))
  if (error.code === 'PROXY_METHOD_REFUSED') response.headers.set('allow', methods.join(', '))
  // The content coding that it accepts (RFC 9110 section 12.5.3).
  if (error.code === 'PROXY_CONTENT_REFUSED') response.headers.set('accept-encoding', 'identity')
  // Configuration errors were reported at construction.
  if (error.code === 'INVALID_CONFIGURATION') return response
  // 501 for an upgrade, which anybody can ask for.
  const isOurs = response.status >= 500 && error.code !== 'PROXY_UPGRADE_REFUSED'
  const level = isOurs ? 'error' : 'info'
  reportRefusal(engine().config, error, level)
  return response
}

/** One request to the API, and what ends with it. */
interface Sending {
  readonly caller: Caller
  readonly request: UpstreamRequest
  /** Lets `close` call a function, once. */
  readonly onClose: (end: () => void) => void
  /** Frees everything; may be called again. */
  readonly close: () => void
}

/** The times after which a request ends, in milliseconds. */
function toDurations({ config: { idleTimeout, maxDuration }, engine, session }: Caller) {
  const { clock, session: rules } = engine.config
  const end = endsAt({ ...session, usedAt: Number.POSITIVE_INFINITY }, rules)
  return { idle: idleTimeout * 1000, duration: Math.min(maxDuration, Math.max(0, end - clock())) * 1000 }
}

/** A caller whose request ends with the session. */
interface Watched extends Caller {
  readonly limits: Limits
  /** Stops that, and the time limits. */
  readonly unwatch: () => void
}

/** Watches a session from the moment that it was read: whatever follows takes time. */
function watch(caller: Caller): Watched {
  const limits = new Limits(toDurations(caller))
  const { clock } = caller.engine.config
  const stop = onSessionEnd(caller.clientTag, caller.session, {
    end: () => limits.end('session'),
    endBy: (time) => limits.shorten((time - clock()) * 1000),
  })
  const unwatch = (): void => {
    stop()
    limits.close()
  }
  return { ...caller, limits, unwatch }
}

const NO_TRANSFER: Transfer = { body: null, onLeave: () => () => undefined }

function prepare(caller: Watched, url: URL): Sending {
  const { config, exchange, limits, unwatch } = caller
  const { headers, method } = exchange.request
  const { body, onLeave } = exchange.request.transfer?.() ?? NO_TRANSFER
  // Fetch has no body for these methods, and for an API it has no meaning (RFC 9110 section 9.3.1).
  const hasBody = body !== null && method !== 'GET' && method !== 'HEAD'
  const sent = toRequestHeaders(headers, config.requestHeaders)
  if (hasBody) assertReadable(headers, sent)
  const length = headers.get('content-length')
  const stated = length === null ? undefined : Number(length)
  const upload = hasBody ? new Upload(body, stated, () => limits.moved()) : null
  const { signal } = limits
  const ends = [onLeave(() => limits.end('client')), unwatch, () => upload?.close()]
  // Some servers accept no chunked body.
  if (upload && length !== null) sent['content-length'] = length
  const close = (): void => {
    // The `fetch` of Node.js keeps the signal until the next major garbage collection.
    signal.removeEventListener('abort', close)
    for (const end of ends.splice(0)) end()
  }
  // Also if nobody reads: a body that does not arrive, a response that the host drops.
  signal.addEventListener('abort', close)
  const request = { method, url, headers: sent, upload, limits, fetch: config.fetch }
  return { caller, request, onClose: (end) => ends.push(end), close }
}

/** Sends the request with a token, and once more with a new one if the API refuses that as invalid. */
async function send({ caller, request }: Sending): Promise<Response> {
  const { engine } = caller
  const { limits, upload } = request
  const current = await currentToken(caller)
  // An API that demands the certificate would end the connection without a response.
  const isUnbound = engine.config.mutualTls?.boundTokens && (await lacksBinding(current.token))
  const token = (isUnbound && (await replaceRefused(caller, current.token))) || current
  limits.moved()
  const response = await sendWithToken(engine, request, token, upload ? await upload.first() : {})
  if (!refusesToken(response) || upload?.isKept === false) return response
  const next = await replaceRefused(caller, token.token)
  const body = next && (await repeatedBody(upload))
  if (!body) return response
  discard(response)
  limits.moved()
  return sendWithToken(engine, request, next, body)
}

/** Statuses without a body (RFC 9110 section 15), which a response with one cannot be created with. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304]

/** Returns whether a response states that its body is short; if it is encoded, that says nothing. */
function isShort({ headers }: Response): boolean {
  const length = headers.get('content-length')
  return length !== null && Number(length) <= MAX_WHOLE_BYTES && !headers.has('content-encoding')
}

function isEvents(headers: Headers): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') ?? false
}

/** Sets the headers that name addresses as the browser knows them. Throws if one is not below the target. */
function rewriteAddresses(
  from: Headers,
  to: Headers,
  { caller: { config, engine, exchange }, request }: Sending,
): void {
  for (const name of ['location', 'content-location']) {
    const address = from.get(name)
    if (address === null) continue
    const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange)) + config.prefix
    const rewritten = toPublic(address, request.url, config.target, prefix)
    if (rewritten === null)
      throw new IdpError('PROXY_REDIRECT_REFUSED', { detail: `It is in the header ${name}.` })
    to.set(name, rewritten)
  }
}

/** Returns the response of the API as the browser gets it. */
async function toBrowser(response: Response, sending: Sending): Promise<Response> {
  const { caller, close, onClose, request } = sending
  const { config, engine } = caller
  const { limits, method, upload } = request
  const { body, status } = response
  if (status < 200 || status > 599)
    throw new IdpError('PROXY_UPSTREAM_FAILED', { detail: 'Its status is not one of HTTP.' })
  const headers = toResponseHeaders(response.headers, config)
  rewriteAddresses(response.headers, headers, sending)
  upload?.forget()
  if (!body || method === 'HEAD' || WITHOUT_BODY.includes(status)) {
    discard(response)
    close()
    return new Response(null, { status, headers })
  }
  if (!config.eventStreams && isEvents(headers)) throw new IdpError('PROXY_STREAM_UNSUPPORTED')
  const reader = body.getReader()
  // A body of a `fetch` of the application may ignore its signal.
  onClose(() => void reader.cancel().catch(() => undefined))
  if (limits.signal.aborted) close()
  if (isShort(response)) {
    const content = await readWhole(reader, limits)
    close()
    return new Response(content, { status, headers })
  }
  // An event stream is never complete, so that its end says nothing; frameworks would log an error.
  const isEventStream = isEvents(headers)
  // nginx would keep the events, and the head, until its buffers are full.
  if (isEventStream) headers.set('x-accel-buffering', 'no')
  const onFailure = (thrown: unknown): boolean => {
    const isExpected = limits.reason !== undefined && limits.reason !== 'idle'
    if (!isExpected) reportRefusal(engine.config, toUpstreamError(limits, thrown), 'error')
    return isEventStream && isExpected
  }
  const download = toDownload(reader, limits, { onEnd: close, onFailure, isEventStream })
  return streamedResponse(download, { status, headers })
}

async function sendOn(caller: Watched, url: URL): Promise<Response> {
  const sending = prepare(caller, url)
  let response: Response | undefined
  try {
    response = await send(sending)
    return await toBrowser(response, sending)
  } catch (thrown) {
    if (response) discard(response)
    sending.close()
    // Nobody reads what follows.
    const { limits } = sending.request
    if (limits.reason === 'client') return new Response(null, { status: 502 })
    // An error of ours may only be a consequence of the end.
    const isOwn = isIdpError(thrown) && (!limits.reason || toStatus(thrown) === 401)
    throw isOwn ? thrown : toUpstreamError(limits, thrown)
  }
}

/** Records use of the session, and returns the response that rejects the request, if the guard or the end of the session does. */
async function reject(
  application: Application,
  exchange: Exchange,
  guard: ProxyRules['guard'],
  watched: Watched | null,
): Promise<Response | undefined> {
  // As a request for a page.
  if (!isBackground(exchange.request)) await passThrough(application, exchange)
  const rejected = (await guard?.(exchange))?.response
  if (!rejected && watched?.limits.reason) throw toUpstreamError(watched.limits, undefined)
  return rejected
}

/**
 * Stages the cookies of a refresh in the background again, now that the response leaves: they would undo that the user has used the
 * session since.
 */
async function keepLaterUse({ config, sessions }: Engine, exchange: Exchange): Promise<void> {
  if (sessions.distributed || !exchange.cookies.isPending || !isBackground(exchange.request)) return
  try {
    const session = await sessions.load(exchange)
    if (session) await sessions.save(exchange, session, { found: session })
  } catch (thrown) {
    reportRefusal(config, asIdpError(thrown), 'error')
  }
}

/**
 * Sends a request on to an API with the access token of its session, and returns the response of the API without what would give
 * it power over the browser. Failures of this library are JSON with `idp-client-error: 1`.
 *
 * @param rest the path below the prefix; `null` if the path is not safe to send on
 */
export async function respond(
  application: Application,
  exchange: Exchange,
  { config, guard }: ProxyRules,
  rest: string | null,
): Promise<Response> {
  let watched: Watched | null = null
  try {
    const engine = application.engine()
    const { url } = exchange.request
    admit(engine, exchange, config.methods)
    const upstream = rest === null ? null : toUpstream(config.target, rest, url?.search ?? '')
    if (!upstream) throw new IdpError('PROXY_PATH_REFUSED')
    const clientTag = await engine.clientTag()
    const session = await engine.sessions.load(exchange)
    watched = session && watch({ engine, clientTag, exchange, session, config })
    const rejected = await reject(application, exchange, guard, watched)
    if (watched && !rejected)
      return await sendOn(watched, upstream).finally(() => keepLaterUse(engine, exchange))
    watched?.unwatch()
    return asOwn(rejected ?? rejection('NOT_AUTHENTICATED'))
  } catch (thrown) {
    watched?.unwatch()
    return toFailure(application, thrown, config)
  }
}
