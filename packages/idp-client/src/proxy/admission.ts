import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { isOfOwnPage } from '../guards/cross-site.ts'
import type { Exchange, RequestHeaders, RequestView } from '../http/exchange.ts'

/** The header by which a request says that a script of the application sends it, which no other site can without permission. */
const CLIENT_HEADER = 'idp-client'

const BACKGROUND = 'background'
/** Its values: a request of the user, and one that is no use of the session. */
const CLIENT_VALUES: readonly string[] = ['1', BACKGROUND]

/** Returns whether a request says that no user has caused it, so that it is no use of the session. */
export const isBackground = ({ headers }: RequestView): boolean => headers.get(CLIENT_HEADER) === BACKGROUND

/** Destinations of data: a browser runs or shows a response for any other. */
const DATA: readonly string[] = ['empty', 'image', 'audio', 'video', 'track']

function isForData(headers: RequestHeaders): boolean {
  const destination = headers.get('sec-fetch-dest')
  return headers.get('sec-fetch-mode') !== 'navigate' && (destination === null || DATA.includes(destination))
}

/**
 * Returns whether a request comes from a page of the application. All methods alike: the token of the user opens the API, whatever
 * the method does there. Browsers without Fetch Metadata send no `Origin` with a GET, so that its script has to say so.
 */
function isAllowed(engine: Engine, exchange: Exchange): boolean {
  const { headers, method } = exchange.request
  // Throws for a host that the application does not have.
  engine.baseUrl(exchange)
  const isRead = method === 'GET' || method === 'HEAD'
  return isOfOwnPage(engine, exchange) ?? (isRead && CLIENT_VALUES.includes(headers.get(CLIENT_HEADER) ?? ''))
}

/** Throws if a request may not be sent on for any user. */
export function admit(engine: Engine, exchange: Exchange, methods: readonly string[]): void {
  const { headers, method } = exchange.request
  if (!methods.includes(method)) throw new IdpError('PROXY_METHOD_REFUSED')
  if (headers.has('upgrade')) throw new IdpError('PROXY_UPGRADE_REFUSED')
  if (!isForData(headers)) throw new IdpError('PROXY_DOCUMENT_REFUSED')
  if (!isAllowed(engine, exchange)) throw new IdpError('CROSS_SITE_REQUEST')
}
