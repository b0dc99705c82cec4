import type { Failure } from '../wire/failure.ts'
import type { BufferedResponse } from '../wire/message.ts'
import { htmlResponse } from '../wire/message.ts'
import { escapeHtml, page } from './html.ts'

export interface Notice extends Partial<Pick<Failure, 'error'>>, Pick<Failure, 'reason'> {
  readonly title: string
  /** Path of the page that lists all requests. */
  readonly overview: string
}

/** Returns a page that only informs. */
export function noticePage({ title, reason, error, overview }: Notice): string {
  const code = error === undefined ? '' : `Error: <code id="error">${escapeHtml(error)}</code> · `
  return page(
    title,
    `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(reason)}</p>
<p class="note">${code}<a href="${escapeHtml(overview)}">All requests to this provider</a></p>`,
  )
}

/** Returns the page of a refusal, with its entry for the request log. */
export function refusalResponse(status: number, notice: Notice & Failure): BufferedResponse {
  const { error, reason } = notice
  return { ...htmlResponse(status, noticePage(notice)), failure: { error, reason } }
}
