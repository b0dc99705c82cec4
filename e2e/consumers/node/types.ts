// Compiled with the module resolution of Node and of bundlers, library declarations included.
import type { IdpClientOptions, SessionData, SessionDataStore, TokenSet, User } from 'idp-client'
import { IdpClient } from 'idp-client'
import { fetchUser } from 'idp-client/browser'
import { isIdpError } from 'idp-client/errors'
import { IdpClient as ExpressIdpClient } from 'idp-client/express'
import { useUser } from 'idp-client/react'
import { memoryStore } from 'idp-client/stores/memory'
import { postgresStore } from 'idp-client/stores/postgres'
import { redisStore } from 'idp-client/stores/redis'
import { generateSessionCookie } from 'idp-client/testing'

declare module 'idp-client' {
  interface User {
    department?: string
  }
}

const options: IdpClientOptions = { domain: 'login.example.com', session: { rolling: false } }

export const idp: IdpClient = new IdpClient(options)
export const express: ExpressIdpClient = new ExpressIdpClient(options)

export async function department(request: Request): Promise<string | undefined> {
  const session: SessionData | null = await idp.getSession(request)
  const tokens: TokenSet | undefined = session?.tokenSet
  const user: User | undefined = session?.user
  return tokens?.accessToken === undefined ? undefined : user?.department
}

export const name = (): string | undefined => useUser().user?.name
/** The claim that is added to one entry has its type in every other one. */
export const departmentInBrowser = (): string | undefined => useUser().user?.department
export const departmentFetched = async (): Promise<string | undefined> => (await fetchUser())?.department
export const email = async (): Promise<string | undefined> => (await fetchUser())?.email
export const known = (error: unknown): boolean => isIdpError(error)
export const cookie: typeof generateSessionCookie = generateSessionCookie

export const stores: SessionDataStore[] = [
  memoryStore(),
  redisStore(async () => null),
  postgresStore({ query: async () => ({ rows: [] }) }),
]

// @ts-expect-error: an option that does not exist must not compile
export const wrong: IdpClientOptions = { clientID: 'x' }
