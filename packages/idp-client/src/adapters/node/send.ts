import { isStreamed } from '../../http/responses.ts'
import type { NodeResponse } from './response.ts'
import { appendCookies, isGone } from './response.ts'

/** Resolves when the response accepts more data, or is closed. */
function drained(response: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle)
      response.off('close', settle)
      resolve()
    }
    response.once('drain', settle)
    response.once('close', settle)
  })
}

/** The error code of HTTP/2 for a failure (RFC 9113 section 7). */
const INTERNAL_ERROR = 2

async function sendBody(target: NodeResponse, response: Response): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) return
  const isBitByBit = isStreamed(response)
  const stop = (): void => {
    reader.cancel().catch(() => undefined)
  }
  // The client has disconnected.
  target.once('close', stop)
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!isGone(target) && target.write(next.value) === false) await drained(target)
      if (isGone(target)) stop()
      else if (isBitByBit) target.flush?.()
    }
  } catch {
    // A body that broke off must not look complete. Who created it has reported that.
    // In HTTP/2 a destroyed stream ends without an error.
    if (target.stream) target.stream.close(INTERNAL_ERROR)
    else target.destroy()
  }
  target.off('close', stop)
}

/**
 * Sends a Web `Response` through a response of `node:http` (or of Express): status, headers and body. Existing headers
 * of the response are preserved, those of the same name are replaced, `Set-Cookie` lines are added.
 *
 * @example
 * app.get('/join', async (req, res) => sendResponse(res, await idp.startInteractiveLogin({ returnTo: '/welcome' })))
 */
export async function sendResponse(target: NodeResponse, response: Response): Promise<void> {
  target.statusCode = response.status
  for (const [name, value] of response.headers) {
    if (name !== 'set-cookie') target.setHeader(name, value)
  }
  appendCookies(target, response.headers.getSetCookie())
  // An event stream may begin with a pause.
  if (isStreamed(response)) target.flushHeaders?.()
  await sendBody(target, response)
  target.end()
}
