import { createServer } from 'node:http'
import { default as nextAuth } from 'next-auth'
// Of the application before the migration.
import { authOptions } from './auth-options.mjs'

async function readForm(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))
}

const readCookies = ({ headers: { cookie = '' } }) =>
  Object.fromEntries(
    cookie
      .split('; ')
      .filter(Boolean)
      .map((pair) => [
        pair.slice(0, pair.indexOf('=')),
        decodeURIComponent(pair.slice(pair.indexOf('=') + 1)),
      ]),
  )

/** Adds what Next.js adds to requests and responses of an API route. */
async function toApiRoute(request, response, action) {
  const { searchParams } = new URL(request.url, process.env.APP_BASE_URL)
  request.query = { ...Object.fromEntries(searchParams), nextauth: action }
  request.cookies = readCookies(request)
  request.body = await readForm(request)
  response.status = (status) => {
    response.statusCode = status
    return response
  }
  response.json = (value) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
  response.send = (body) => response.end(typeof body === 'object' ? JSON.stringify(body) : body)
}

createServer(async (request, response) => {
  const { pathname } = new URL(request.url, process.env.APP_BASE_URL)
  const [, action] = /^\/api\/auth\/(.+)$/.exec(pathname) ?? []
  await toApiRoute(request, response, (action ?? 'session').split('/'))
  if (action === undefined && pathname !== '/api/orders') return response.end('the application before')
  if (action === undefined) {
    response.send = (session) => response.status(session.sub ? 200 : 401).json({ sub: session.sub })
  }
  await nextAuth.default(request, response, authOptions)
}).listen(Number(process.env.PORT), '127.0.0.1')
