import { codes } from '../errors/codes.ts'
import type { FailureReport } from './failure-page.ts'
import { toExplanation, toReference, toWording } from './failure-page.ts'
import { link, page } from './page.ts'

export interface PopupLogin {
  /** Names the channel that the page which opened the popup listens to; empty: it only listens to the popup. */
  readonly channel: string
  /** Base64 alphabet. */
  readonly nonce: string
  /** Link for the user if the popup cannot close itself. */
  readonly nextUrl: string
}

export interface PopupUser {
  readonly sub: string
  readonly email?: string
}

/** Milliseconds: a moment is needed to deliver the message. */
const CLOSE_AFTER = 100

/** JSON that can stand in a script: no end tag, no comment, no line that only JSON knows. */
function inScript(value: unknown): string {
  const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, code)
}

/*
 * Both ways lead to this origin only. Where a page has `Cross-Origin-Opener-Policy: same-origin`, the popup has no
 * opener, and only the channel is left.
 */
function tell(channel: string, message: object): string {
  const text = inScript(channel === '' ? message : { ...message, id: channel })
  return [
    `const m=${text}`,
    'if(window.opener)window.opener.postMessage(m,location.origin)',
    'if(m.id&&window.BroadcastChannel)new BroadcastChannel(m.id).postMessage(m)',
    `setTimeout(()=>window.close(),${CLOSE_AFTER})`,
  ].join(';')
}

/** Returns the page of a popup after its login: it notifies the page that opened it, and closes itself. */
export function popupPage({ channel, nextUrl, nonce }: PopupLogin, user: PopupUser): Response {
  const { email, sub } = user
  const message = { type: 'auth_complete', success: true, user: { sub, ...(email ? { email } : {}) } }
  return page({
    status: 200,
    title: 'You are logged in',
    sentence: 'This window closes by itself. If it does not, you can close it.',
    rest: `<nav>${link(nextUrl, 'Continue here', 'main')}</nav>`,
    script: { text: tell(channel, message), nonce },
  })
}

/** The same for a login that failed: in our own words, and nothing of the request. */
export function popupFailurePage({ channel, nextUrl, nonce }: PopupLogin, failure: FailureReport): Response {
  const { diagnosis, status } = failure
  const { error: code } = diagnosis
  const error = { code, message: codes[code].message }
  return page({
    status,
    ...toWording(failure),
    rest: `${toExplanation(failure)}<nav>${link(nextUrl, 'Continue', 'main')}</nav>${toReference(failure)}`,
    script: { text: tell(channel, { type: 'auth_complete', success: false, error }), nonce },
  })
}
