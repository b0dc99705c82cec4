import { defineNuxtPlugin, useRuntimeConfig } from '#imports'
import { createPage } from '../browser/page.ts'
import { announcePage } from '../browser/page-state.ts'
import type { BrowserRoutes } from '../browser/routes.ts'
import type { User } from '../session/model/session-data.ts'
import { readRequestUser } from './request-user.ts'
import { createUserSession } from './user-session.ts'

/** Options of the module, as it notes them for the application. */
interface PublicOptions {
  readonly routes: BrowserRoutes & { readonly logout?: string | undefined }
}

/** The plugin of the application: transfers the user from the server to the browser, in the payload of the page. */
const plugin: object = defineNuxtPlugin(async (app) => {
  const config = useRuntimeConfig()
  const { routes } = config.public['idp'] as PublicOptions
  const payload: { idpUser?: User | null | undefined } = app.payload
  // The browser requests the user itself if the server could not read it, and reports the failure.
  if (import.meta.server) payload.idpUser = await readRequestUser(false).catch(() => undefined)
  const page = createPage({ basePath: config.app.baseURL, routes, user: payload.idpUser })
  if (!import.meta.server) announcePage(page)
  const logoutUrl = page.urls.locate(routes.logout ?? '/auth/logout')
  return { provide: { userSession: createUserSession({ app, logoutUrl, page }) } }
})

export default plugin
