import { env } from 'cloudflare:workers'
import { IdpClient } from 'idp-client'

const idp = new IdpClient({
  appBaseUrl: env.APP_BASE_URL,
  domain: env.IDP_DOMAIN,
  clientId: env.IDP_CLIENT_ID,
  clientSecret: env.IDP_CLIENT_SECRET,
  secret: env.IDP_SECRET,
  allowInsecureRequests: env.NODE_ENV !== 'production',
  processLasts: false,
})

const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const html = (body) =>
  new Response(`<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  })

async function home(request) {
  const session = await idp.getSession(request)
  return session
    ? html('<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>')
    : html('<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>')
}

async function account(request) {
  const { response, session } = await idp.requireLogin(request)
  return response ?? html(`<p id="user">${escapeHtml(session.user.sub)}</p><a href="/">Home</a>`)
}

async function me(request) {
  const { response, session } = await idp.requireAuth(request)
  return response ?? Response.json({ sub: session.user.sub })
}

const pages = { '/': home, '/account': account, '/api/me': me }

async function application(request) {
  const page = pages[new URL(request.url).pathname]
  return page ? page(request) : new Response('Not found', { status: 404 })
}

export default {
  fetch: (request) => idp.middleware(request, application),
}
