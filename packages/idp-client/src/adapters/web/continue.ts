import type { CookieJar } from '../../http/cookie-jar.ts'
import { flushOnto } from './binding.ts'

const CONTINUE = 'x-middleware-next'

/** The answer of `middleware` to a request that is the application's own: empty, with the cookies to set. */
export function continueResponse(cookies: CookieJar): Response {
  const response = new Response(null, { headers: { [CONTINUE]: '1' } })
  flushOnto(cookies, response.headers)
  return response
}

/** Whether `middleware` left the request to the application. */
export function isContinue(response: Response): boolean {
  return response.headers.get(CONTINUE) === '1'
}

/** Headers of a continue response that the application's own response takes over. */
const CARRIED = ['cache-control', 'pragma', 'expires'] as const

/**
 * The application's response with the cookies of a continue response on it. A response that gets a cookie also gets
 * the headers that keep it out of caches. Returns a new response when the given one's headers cannot be changed.
 */
export function continueWith(continued: Response, response: Response): Response {
  const cookies = continued.headers.getSetCookie()
  if (cookies.length === 0) return response
  const result = new Response(response.body, response)
  for (const cookie of cookies) result.headers.append('set-cookie', cookie)
  for (const name of CARRIED) {
    const value = continued.headers.get(name)
    if (value !== null) result.headers.set(name, value)
  }
  return result
}
