import { toGuideUrl } from '../errors/advice.ts'
import { codes } from '../errors/codes.ts'
import { defined } from '../lib/defined.ts'
import type { FailureReport } from './failure-wording.ts'
import { toWording } from './failure-wording.ts'
import { escapeHtml, isLink, link, page } from './page.ts'
import { json as jsonResponse } from './responses.ts'

export interface Failure extends FailureReport {
  /** Respond with `{"error":{"code","message"},"id"}` instead of the page. */
  readonly json?: boolean
  /** Links are paths or http(s) URLs of the application; others are left out. */
  readonly homeUrl: string
  readonly retryUrl?: string
  /** URL to which the page redirects automatically; the caller ensures that this happens only once. */
  readonly restartUrl?: string
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

function toBody({ development, diagnosis, id }: FailureReport): unknown {
  const { advice, detail, error: code, remedy } = diagnosis
  const error = { code, message: codes[code].message, ...(development ? { detail, advice, remedy } : {}) }
  return { error, id }
}

/**
 * Returns the page for a failed login, callback, connect or logout: a text of the library, links to continue, and a
 * correlation id; in development also cause and fix. It loads nothing, runs no script, cannot be framed, and
 * contains no input of the request.
 */
export function failurePage(failure: Failure): Response {
  const { status, homeUrl, restartUrl, retryUrl } = failure
  if (failure.json) return jsonResponse(status, toBody(failure))
  const restarts = isLink(restartUrl)
  const rest = [
    toExplanation(failure),
    restarts ? '<p role="status">Starting the login again…</p>' : '',
    `<nav>${link(restarts ? restartUrl : retryUrl, 'Try again', 'main')}${link(homeUrl, 'Home')}</nav>`,
    toReference(failure),
  ].join('')
  return page(defined({ status, ...toWording(failure), rest, refreshUrl: restarts ? restartUrl : undefined }))
}
