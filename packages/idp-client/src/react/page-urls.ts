import type { RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'

let announced: RouteUrls | undefined

/** Tells functions that are no hooks where the routes of this page are; the last provider counts. */
export function announceUrls(urls: RouteUrls): void {
  announced = urls
}

/** For the browser, where one page is one application: the addresses of its provider, else those of the variables. */
export function pageUrls(): RouteUrls {
  return announced ?? resolveRoutes({})
}
