import { escapeHtml, page } from './html.ts'

/** A page that only says something; `code` is an OAuth error code, if there is one. */
export function noticePage(title: string, text: string, code?: string): string {
  const detail =
    code === undefined ? '' : `<p class="note">Error: <code id="error">${escapeHtml(code)}</code></p>`
  return page(title, `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${detail}`)
}
