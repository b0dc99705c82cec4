import { announcedPage } from './announced-page.ts'
import type { RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'

/** Where the routes of this page are. */
export const currentUrls = (): RouteUrls => announcedPage?.urls ?? resolveRoutes({})
