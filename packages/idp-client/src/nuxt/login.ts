import { createError, defineNuxtRouteMiddleware, useNuxtApp } from '#imports'
import { fetchUser } from '../browser/current-user.ts'
import type { User } from '../session/model/session-data.ts'
import { readRequestUser } from './request-user.ts'
import { useUserSession } from './user-session.ts'

/**
 * Throws what Nuxt shows to the user instead of the page. Nuxt sends the message of an error to the browser; the library's, for
 * operators, is the cause, which the server logs because the error is fatal. In a browser a fatal error shows the page of errors;
 * any other would only prevent the navigation.
 */
function fail(cause: unknown): never {
  throw createError({ statusCode: 500, message: 'The sign-in is not available.', fatal: true, cause })
}

async function readUser(): Promise<User | null | undefined> {
  return import.meta.server ? readRequestUser(true) : fetchUser()
}

/**
 * The route middleware `idp-login`: sends the browser to the login, and afterwards back to the page. Shows the page of errors if
 * it is unknown whether a user is signed in. A response that other users get as well is not decided about on the server, but when
 * the browser shows the page.
 */
const middleware: object = defineNuxtRouteMiddleware(async ({ fullPath }) => {
  const { $router } = useNuxtApp()
  const { login, user } = useUserSession()
  if (user.value) return undefined
  const current = await readUser().catch(fail)
  return current === null ? login($router.resolve(fullPath).href) : undefined
})

export default middleware
