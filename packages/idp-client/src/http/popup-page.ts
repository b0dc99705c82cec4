import { codes } from '../errors/codes.ts'
import { defined } from '../lib/objects.ts'
import type { FailureReport } from './failure-page.ts'
import { toExplanation, toReference, toWording } from './failure-page.ts'
import { link, page } from './page.ts'

export interface PopupLogin {
  /** Name of the channel on which the opener waits; empty if it only listens to `message` events. */
  readonly channel: string
  /** Base64 alphabet. */
  readonly nonce: string
  /** URL to continue at if the popup cannot close itself. */
  readonly nextUrl: string
}

export interface PopupUser {
  readonly sub: string
  readonly email?: string
}

/** Milliseconds to deliver the message before closing. */
const CLOSE_AFTER = 100

/** Serializes JSON for an inline script: without end tags, comments, or line terminators that only JSON allows. */
function toScriptJson(value: unknown): string {
  const code = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, code)
}

/*
 * Both ways reach this origin only. If the opener has `Cross-Origin-Opener-Policy: same-origin`, `window.opener` is
 * null and only the channel works.
 */
function toScript(channel: string, message: object): string {
  const text = toScriptJson(channel === '' ? message : { ...message, id: channel })
  return [
    `const m=${text}`,
    'if(window.opener)window.opener.postMessage(m,location.origin)',
    'if(m.id&&window.BroadcastChannel)new BroadcastChannel(m.id).postMessage(m)',
    `setTimeout(()=>window.close(),${CLOSE_AFTER})`,
  ].join(';')
}

/** Returns the page of a completed popup: it posts the result to its opener and closes itself. */
export function popupPage({ channel, nextUrl, nonce }: PopupLogin, { email, sub }: PopupUser): Response {
  const message = { type: 'auth_complete', success: true, user: defined({ sub, email: email || undefined }) }
  return page({
    status: 200,
    title: 'You are logged in',
    sentence: 'This window closes by itself. If it does not, you can close it.',
    rest: `<nav>${link(nextUrl, 'Continue here', 'main')}</nav>`,
    script: { text: toScript(channel, message), nonce },
  })
}

/** Returns the page of a failed popup, without input of the request. */
export function popupFailurePage({ channel, nextUrl, nonce }: PopupLogin, failure: FailureReport): Response {
  const { error: code } = failure.diagnosis
  const error = { code, message: codes[code].message }
  return page({
    status: failure.status,
    ...toWording(failure),
    rest: `${toExplanation(failure)}<nav>${link(nextUrl, 'Continue', 'main')}</nav>${toReference(failure)}`,
    script: { text: toScript(channel, { type: 'auth_complete', success: false, error }), nonce },
  })
}
