import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { frontchannelLogout as endSession } from '../flows/frontchannel-logout.ts'
import type { RequestHeaders } from '../http/exchange.ts'
import { isPrefetch } from '../http/request-kind.ts'
import { empty, errorJson } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { reportCounted } from './counted-refusal.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { toStatus } from './status.ts'

/** 1 to 255 characters that can be printed. */
const SID = /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u

/** The refusals that anybody can cause. */
const REFUSALS: readonly Code[] = ['IFRAME_REQUIRED', 'FRONTCHANNEL_LOGOUT_ERROR', 'TOO_MANY_LOGOUTS']

/** Browsers without Fetch Metadata, and on plain http, send no `Sec-Fetch-Dest`. */
function assertInFrame(headers: RequestHeaders): void {
  const destination = headers.get('sec-fetch-dest')
  if (destination !== null && destination !== 'iframe') throw new IdpError('IFRAME_REQUIRED')
  if (isPrefetch(headers)) throw new IdpError('IFRAME_REQUIRED', { detail: 'It is a prefetch.' })
}

function readQuery(query: URLSearchParams): { readonly sid: string; readonly iss?: string } {
  const [sid = '', ...furtherSids] = query.getAll('sid')
  const [iss, ...furtherIssuers] = query.getAll('iss')
  if (furtherSids.length > 0 || furtherIssuers.length > 0)
    throw new IdpError('FRONTCHANNEL_LOGOUT_ERROR', { detail: 'sid or iss is repeated.' })
  if (!SID.test(sid)) {
    const detail = 'sid is missing, or not 1 to 255 printable characters.'
    throw new IdpError('FRONTCHANNEL_LOGOUT_ERROR', { detail })
  }
  return defined({ sid, iss })
}

/** Only pages of the provider may contain the response in a frame. */
function withPolicy({ config }: Engine, response: Response): Response {
  const ancestors = [
    new URL(config.provider.url).origin,
    ...(config.frontChannelLogout?.frameAncestors ?? []),
  ]
  response.headers.set('Content-Security-Policy', `frame-ancestors ${ancestors.join(' ')}`)
  return response
}

function fail(error: IdpError): Response {
  const status = error.name === 'DiscoveryError' ? 503 : toStatus(error)
  const response = errorJson(status, error.code)
  if (status === 503) response.headers.set('Retry-After', '1')
  return response
}

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  try {
    assertInFrame(exchange.request.headers)
    await endSession(engine, { ...readQuery(query), correlationId: id })
    return withPolicy(engine, empty(200))
  } catch (thrown) {
    return withPolicy(engine, fail(reportCounted(engine, thrown, REFUSALS)))
  }
}

export const frontchannelLogout: RouteHandler = { handle, fail }
