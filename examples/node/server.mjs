import { createServer } from 'node:http'
import { IdpClient, sendResponse } from 'idp-client/node'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

function page(res, body) {
  res.setHeader('content-type', 'text/html; charset=utf-8')
  res.end(`<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`)
}

const pages = {
  '/': async (_req, res) => {
    const session = await idp.getSession()
    page(
      res,
      session
        ? `<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>`
        : '<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>',
    )
  },
  '/account': async (req, res) => {
    const { session, response } = await idp.requireLogin(req)
    if (response) return sendResponse(res, response)
    page(res, `<p id="user">${escapeHtml(session.user.sub)}</p><a href="/">Home</a>`)
  },
  '/api/me': async (req, res) => {
    const { session, response } = await idp.requireAuth(req)
    if (response) return sendResponse(res, response)
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify({ sub: session.user.sub }))
  },
}

async function respond(req, res) {
  const { pathname } = new URL(req.url, 'http://localhost')
  if (Object.hasOwn(pages, pathname)) await pages[pathname](req, res)
  else res.writeHead(404).end('Not found')
}

createServer(async (req, res) => {
  try {
    await idp.middleware(req, res, () => respond(req, res))
  } catch {
    // The client has logged it.
    if (!res.headersSent) res.writeHead(500)
    res.end()
  }
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
