import { currentPage } from './page.ts'
import { forgetTokens } from './page-state.ts'
import { browserError } from './request-error.ts'

const HEADER = 'idp-client'

/** The codes of 401 responses which say that there is no session any more. */
const ENDED: readonly unknown[] = ['NOT_AUTHENTICATED', 'MISSING_SESSION', 'SESSION_EXPIRED']

/**
 * Drops the tokens, and requests the user again, if a failure of the proxy says that the session has ended, or has no body to say so
 * (HEAD). After any other failure the request would only extend the session, for as long as a page polls.
 */
async function noticeEnd(failure: Response): Promise<void> {
  const { code }: { readonly code?: unknown } = await failure.json().catch(() => ({}))
  if (code !== undefined && !ENDED.includes(code)) return
  forgetTokens()
  currentPage().store.recheck()
}

/**
 * Sends a request to an API that `idp.proxy` serves below a path of this origin. Like `fetch`, with two differences: the request has
 * the header `idp-client: 1`, by which the proxy recognizes the pages of the application in browsers that say nothing about the
 * sender themselves; and if the response says that the session has ended, cached access tokens are dropped, and `useUser` and
 * `userStore` request the user again. `idp-client: background` in your headers is kept: such a request does not extend the session.
 * Every response is returned, including 401.
 *
 * Rejects, and sends nothing, for the URL of another origin (`FETCHER_URL_REFUSED`) and outside browsers (`INTERNAL_ERROR`);
 * otherwise as `fetch` does.
 *
 * @example
 * const headers = { 'content-type': 'application/json' }
 * const response = await fetchApi('/api/orders', { method: 'POST', headers, body: JSON.stringify(order) })
 */
export async function fetchApi(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  if (typeof location === 'undefined')
    throw browserError('INTERNAL_ERROR', 'fetchApi is for browsers only: a server has idp.createFetcher().')
  // Checked as it is sent: the base URL of the document may be another one than its address.
  const request = new Request(input, init)
  if (new URL(request.url).origin !== location.origin)
    throw browserError('FETCHER_URL_REFUSED', 'fetchApi sends requests to its own origin only: use a path.')
  const { headers } = request
  if (headers.get(HEADER) !== 'background') headers.set(HEADER, '1')
  const response = await fetch(request)
  // A 401 without this header is one of the API: the session is valid.
  if (response.status === 401 && response.headers.has('idp-client-error')) void noticeEnd(response.clone())
  return response
}
