import { link, page } from './page.ts'

/**
 * Returns a page that continues at a URL by itself. Since a page of the application requests that URL, the browser sends
 * cookies of `SameSite=Strict`, which it withholds from every redirect that follows a page of another site.
 */
export function continuePage(url: string): Response {
  return page({
    status: 200,
    title: 'One moment, please',
    sentence: 'This page continues by itself.',
    rest: `<nav>${link(url, 'Continue', 'main')}</nav>`,
    refreshUrl: url,
  })
}
