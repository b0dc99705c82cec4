import type { Code } from '../errors/codes.ts'
import { accessToken } from './access-token.ts'
import { addressWith, toProperties } from './ask-route.ts'
import { currentUrls } from './current-urls.ts'
import type { ChallengeWithPopupOptions } from './mfa.ts'
import type { RouteRequestError } from './request-error.ts'
import { browserError } from './request-error.ts'
import { openChannel } from './tabs.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { forgetTokens } from './token-epoch.ts'
import { isOtherShown, recheckUsers } from './watcher.ts'

/** Any second factor, as OpenID Provider Authentication Policy Extension 1.0 names it. */
const MULTI_FACTOR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** Milliseconds in which a login in a popup has to be done. */
const TIMEOUT = 60_000

/** Milliseconds between two looks at whether the user has closed the popup, or it takes too long. */
const POLL = 500

/** As in the table of codes, which would bring all its messages along. */
const reasons = {
  INVALID_EXECUTION_CONTEXT: 'Popups can only be opened in a browser.',
  POPUP_IN_PROGRESS: 'Another popup is open already.',
  POPUP_BLOCKED: 'The browser has blocked the popup.',
  POPUP_CANCELLED: 'The popup was closed before the login was complete.',
  POPUP_USER_MISMATCH: 'A different user signed in in the popup.',
  POPUP_TIMEOUT: 'The login in the popup was not completed in time.',
} as const satisfies { readonly [Reason in Code]?: string }

const failed = (code: keyof typeof reasons): RouteRequestError =>
  browserError(code, reasons[code], { name: 'MfaError' })

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Resolves to the `sub` of the user who has logged in, once the page in the popup reports how the login `id` ended: by
 * its opener, and by a channel of that name, since `Cross-Origin-Opener-Policy: same-origin` takes the opener away.
 * Both reach this origin only.
 */
function told(id: string, popup: Window, timeout: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const channel = openChannel(id, take)
    const begun = performance.now()
    const poll = setInterval(() => {
      if (performance.now() - begun >= timeout) end(failed('POPUP_TIMEOUT'))
      // A popup that was cut off from this page looks closed too, but then it has the focus.
      if (popup.closed && document.hasFocus()) end(failed('POPUP_CANCELLED'))
    }, POLL)

    function end(error: Error | null, sub?: unknown): void {
      clearInterval(poll)
      removeEventListener('message', fromOpened)
      channel?.close()
      if (error) reject(error)
      else resolve(sub)
    }

    function take({ data }: MessageEvent): void {
      const message = toProperties<'type' | 'id' | 'success' | 'user' | 'error'>(data)
      if (message.type !== 'auth_complete' || message.id !== id) return
      const { sub } = toProperties<'sub'>(message.user)
      const { code, message: text } = toProperties<'code' | 'message'>(message.error)
      end(
        message.success === true ? null : browserError(code as Code, String(text), { name: 'MfaError' }),
        sub,
      )
    }

    function fromOpened(event: MessageEvent): void {
      if (event.origin === location.origin) take(event)
    }

    addEventListener('message', fromOpened)
  })
}

/**
 * Waits for the login in a popup that is open, or says why there is none (`null`: blocked, undefined: not opened), and
 * fetches the token that it was for.
 */
export async function completeChallenge(
  options: ChallengeWithPopupOptions,
  popup: Window | null | undefined,
): Promise<AccessTokenResponse> {
  const { audience, scope, acr_values = MULTI_FACTOR, prompt, returnTo, timeout = TIMEOUT } = options
  if (typeof window === 'undefined') throw failed('INVALID_EXECUTION_CONTEXT')
  if (!popup) throw failed(popup === null ? 'POPUP_BLOCKED' : 'POPUP_IN_PROGRESS')
  const id = randomId()
  const query = { challengeMode: 'popup', popup: id, audience, scope, acr_values, prompt, returnTo }
  const url = addressWith(currentUrls().login, query)
  popup.location.href = new URL(url, location.href).href
  const sub = await told(id, popup, timeout)
  // Where the session had ended, any user may have started one: the user on the page must not act with another one's token.
  const isOther = isOtherShown(sub)
  forgetTokens()
  recheckUsers()
  if (isOther) throw failed('POPUP_USER_MISMATCH')
  return accessToken({ audience, scope, includeFullResponse: true })
}
