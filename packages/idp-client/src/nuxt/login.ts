import { defineNuxtRouteMiddleware } from '#imports'
import { fetchUser } from '../browser/current-user.ts'
import { readRequestUser } from './request-user.ts'
import { useUserSession } from './user-session.ts'

/**
 * The route middleware `idp-login`: sends the browser to the login, and afterwards back to the page. Throws if it is unknown
 * whether a user is signed in. A response that other users get as well is not decided about on the server, but when the
 * browser shows the page.
 */
const middleware: object = defineNuxtRouteMiddleware(async ({ fullPath }) => {
  const { login, user } = useUserSession()
  if (user.value) return undefined
  const current = import.meta.server ? await readRequestUser() : await fetchUser()
  return current === null ? login(fullPath) : undefined
})

export default middleware
