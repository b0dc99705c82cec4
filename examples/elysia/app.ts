import { Elysia } from 'elysia'
import { IdpClient } from 'idp-client'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (body: string) =>
  new Response(`<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  })

export const app = new Elysia()
  .wrap((handle) => (request: Request) => idp.middleware(request, handle as never))
  .get('/', async ({ request }) => {
    const session = await idp.getSession(request)
    return session
      ? page('<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>')
      : page('<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>')
  })
  .get('/account', async ({ request }) => {
    const { response, session } = await idp.requireLogin(request)
    if (response) return response
    return page(`<p id="user">${escapeHtml(session.user.sub)}</p><a href="/">Home</a>`)
  })
  .get('/api/me', async ({ request }) => {
    const { response, session } = await idp.requireAuth(request)
    if (response) return response
    return { sub: session.user.sub }
  })
  .guard({ beforeHandle: async ({ request }) => (await idp.requireAuth(request)).response }, (guarded) =>
    guarded.get('/api/email', async ({ request }) => (await idp.getSession(request))?.user.email ?? null),
  )
