import type { Code } from '../errors/code.ts'
import { accessToken } from './access-token.ts'
import { addressWith, currentUrls, toProperties } from './ask-route.ts'
import type { ChallengeWithPopupOptions } from './mfa.ts'
import { forgetTokens } from './page-state.ts'
import type { RouteRequestError } from './request-error.ts'
import { browserError } from './request-error.ts'
import { openChannel } from './tabs.ts'
import type { AccessTokenResponse } from './token-cache.ts'
import { isOtherShown, recheckUsers } from './watcher.ts'

/** Any second factor, as defined by OpenID Provider Authentication Policy Extension 1.0. */
const MULTI_FACTOR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

/** Default time limit for a login in a popup, in milliseconds. */
const TIMEOUT = 60_000

/** Interval of the checks whether the popup is closed or timed out, in milliseconds. */
const POLL = 500

/** Messages of the table of codes, which is too large to import. */
const reasons = {
  INVALID_EXECUTION_CONTEXT: 'Popups can only be opened in a browser.',
  POPUP_IN_PROGRESS: 'Another popup is open already.',
  POPUP_BLOCKED: 'The browser has blocked the popup.',
  POPUP_CANCELLED: 'The popup was closed before the login was complete.',
  POPUP_USER_MISMATCH: 'A different user signed in in the popup.',
  POPUP_TIMEOUT: 'The login in the popup was not completed in time.',
} as const satisfies { readonly [Reason in Code]?: string }

const popupError = (code: keyof typeof reasons): RouteRequestError =>
  browserError(code, reasons[code], { name: 'MfaError' })

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Waits until the popup reports the outcome of the login `id` and returns the `sub` of the user. The popup posts to its
 * opener and to a channel of that name, because `Cross-Origin-Opener-Policy: same-origin` removes the opener. Both
 * reach this origin only.
 */
function waitForPopup(id: string, popup: Window, timeout: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const channel = openChannel(id, handleMessage)
    const startedAt = performance.now()
    const poll = setInterval(() => {
      if (performance.now() - startedAt >= timeout) end(popupError('POPUP_TIMEOUT'))
      // A popup that was cut off from this page also looks closed, but then it has the focus.
      if (popup.closed && document.hasFocus()) end(popupError('POPUP_CANCELLED'))
    }, POLL)

    function end(error: Error | null, sub?: unknown): void {
      clearInterval(poll)
      removeEventListener('message', onMessage)
      channel?.close()
      if (error) reject(error)
      else resolve(sub)
    }

    function handleMessage({ data }: MessageEvent): void {
      const message = toProperties<'type' | 'id' | 'success' | 'user' | 'error'>(data)
      if (message.type !== 'auth_complete' || message.id !== id) return
      const { sub } = toProperties<'sub'>(message.user)
      const { code, message: text } = toProperties<'code' | 'message'>(message.error)
      end(
        message.success === true ? null : browserError(code as Code, String(text), { name: 'MfaError' }),
        sub,
      )
    }

    function onMessage(event: MessageEvent): void {
      if (event.origin === location.origin) handleMessage(event)
    }

    addEventListener('message', onMessage)
  })
}

/**
 * Waits for the login in an open popup and returns the requested token. Throws if there is no popup (`null`: blocked,
 * `undefined`: not opened).
 */
export async function completeChallenge(
  options: ChallengeWithPopupOptions,
  popup: Window | null | undefined,
): Promise<AccessTokenResponse> {
  const { audience, scope, acr_values = MULTI_FACTOR, prompt, returnTo, timeout = TIMEOUT } = options
  if (typeof window === 'undefined') throw popupError('INVALID_EXECUTION_CONTEXT')
  if (!popup) throw popupError(popup === null ? 'POPUP_BLOCKED' : 'POPUP_IN_PROGRESS')
  const id = randomId()
  const query = { challengeMode: 'popup', popup: id, audience, scope, acr_values, prompt, returnTo }
  const url = addressWith(currentUrls().login, query)
  popup.location.href = new URL(url, location.href).href
  const sub = await waitForPopup(id, popup, timeout)
  // If the session had ended, another user may have started one: the user that the page shows must not act with that
  // token.
  const isOther = isOtherShown(sub)
  forgetTokens()
  recheckUsers()
  if (isOther) throw popupError('POPUP_USER_MISMATCH')
  return accessToken({ audience, scope, includeFullResponse: true })
}
