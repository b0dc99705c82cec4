import { toGuideUrl } from '../errors/advice.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import type { Diagnosis } from '../errors/diagnosis.ts'
import { setupMistakes } from '../errors/setup-mistakes.ts'
import { escapeHtml, isLink, link, page } from './page.ts'
import { json } from './responses.ts'

/** The content of a failure page. */
export interface FailureReport {
  readonly status: number
  readonly diagnosis: Diagnosis
  /** Whether the page also shows cause and fix. */
  readonly development: boolean
  /** Correlation id, also in the log. */
  readonly id: string
}

const wordings = {
  denied: {
    title: 'Login was not completed',
    sentence: 'The login was cancelled, or the login service declined it.',
  },
  forbidden: {
    title: 'You do not have access to this page',
    sentence: 'The account with which you are logged in is not allowed to open it.',
  },
  stale: {
    title: 'This login is no longer valid',
    sentence: 'It has expired, was already used, or was started in another browser. Please log in again.',
  },
  connect: {
    title: 'The account was not connected',
    sentence: 'It was cancelled, or the login service declined it. Please try again from the application.',
  },
  'signed-out': {
    title: 'Please log in first',
    sentence: 'You are not logged in, or no longer as the same user. Please log in and try again.',
  },
  'other-user': {
    title: 'You are logged in as a different user',
    sentence: 'Please try again as the user who is logged in, or log out first.',
  },
  factor: {
    title: 'Please confirm that it is you',
    sentence: 'The login service requires another factor for this.',
  },
  provider: {
    title: 'The login service cannot be used right now',
    sentence: 'It did not respond as expected. Please try again in a moment.',
  },
  configuration: {
    title: 'Login is not set up correctly',
    sentence: 'The operator of this application has to correct its settings before you can log in.',
  },
  request: {
    title: 'This address cannot be opened like this',
    sentence: 'The request is incomplete or not allowed. Please start again from the application.',
  },
  fault: {
    title: 'Something went wrong',
    sentence: 'The application could not complete the request. Please try again.',
  },
} as const

type Kind = keyof typeof wordings

const kinds: Partial<Record<Code, Kind>> = {
  AUTHORIZATION_ERROR: 'denied',
  ACCESS_DENIED: 'forbidden',
  WRONG_ORGANIZATION: 'forbidden',
  INSUFFICIENT_SCOPE: 'forbidden',
  MISSING_STATE: 'stale',
  UNKNOWN_STATE: 'stale',
  EXPIRED_STATE: 'stale',
  REPLAYED_STATE: 'stale',
  STATE_HOST_MISMATCH: 'stale',
  SUPERSEDED_STATE: 'stale',
  POPUP_USER_MISMATCH: 'other-user',
  INVALID_CALLBACK: 'stale',
  AUTHORIZATION_CODE_GRANT_ERROR: 'stale',
  FAILED_TO_INITIATE: 'connect',
  FAILED_TO_COMPLETE: 'connect',
  MISSING_SESSION: 'signed-out',
  MFA_REQUIRED: 'factor',
}

/** Returns title and sentence of the page for an error. */
export function toWording({ diagnosis, status }: FailureReport): (typeof wordings)[Kind] {
  const { error: code, remedy } = diagnosis
  if (setupMistakes.has(remedy)) return wordings.configuration
  // The store belongs to the application: the login service is not involved in its failures.
  if (code === 'SESSION_STORE_FAILED') return wordings.fault
  if (status === 502 || status === 503 || status === 504) return wordings.provider
  return wordings[kinds[code] ?? (status < 500 ? 'request' : 'fault')]
}

export interface Failure extends FailureReport {
  /** Links are paths or http(s) URLs of the application; others are left out. */
  readonly homeUrl: string
  readonly retryUrl?: string | undefined
  /** URL to which the page redirects automatically; the caller ensures that this happens only once. */
  readonly restartUrl?: string | undefined
}

/** Returns the footer: the code and the correlation id. */
export function toReference({ diagnosis, id }: Pick<FailureReport, 'diagnosis' | 'id'>): string {
  return `<small>${diagnosis.error} · Reference ${escapeHtml(id)}</small>`
}

/** Returns cause and fix for the developer, as in the log; an empty string in production. */
export function toExplanation({ development, diagnosis }: FailureReport): string {
  if (!development) return ''
  const { advice, detail, remedy } = diagnosis
  const guide = link(toGuideUrl(remedy), `Troubleshooting: ${escapeHtml(remedy)}`)
  return `<p><strong>Development:</strong> ${escapeHtml(detail)}</p><p>${escapeHtml(advice)}</p><p>${guide}</p>`
}

/**
 * Returns the page for a failed login, callback, connect or logout: a text of the library, links to continue, and a
 * correlation id; in development also cause and fix. It loads nothing, runs no script, cannot be framed, and
 * contains no input of the request.
 */
export function failurePage(failure: Failure): Response {
  const { status, homeUrl, restartUrl, retryUrl } = failure
  const restarts = isLink(restartUrl)
  const rest = [
    toExplanation(failure),
    restarts ? '<p role="status">Starting the login again…</p>' : '',
    `<nav>${link(restarts ? restartUrl : retryUrl, 'Try again', 'main')}${link(homeUrl, 'Home')}</nav>`,
    toReference(failure),
  ].join('')
  return page({ status, ...toWording(failure), rest, refreshUrl: restarts ? restartUrl : undefined })
}

/** Returns `{"error":{"code","message"},"id"}`, in place of the page. */
export function failureJson({ development, diagnosis, id, status }: FailureReport): Response {
  const { advice, detail, error: code, remedy } = diagnosis
  const explained = development ? { detail, advice, remedy } : {}
  return json(status, { error: { code, message: codes[code].message, ...explained }, id })
}
