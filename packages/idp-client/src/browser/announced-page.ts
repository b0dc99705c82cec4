import type { Page } from './page.ts'

export let announcedPage: Page | undefined

/** Tells functions that are no hooks what the page is; the last one counts. In the browser only, where one page is one user. */
export function announcePage(page: Page): void {
  announcedPage = page
}
