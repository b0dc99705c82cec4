// A plain Node script: the Web entry behind node:http. Every other entry is imported as well, which
// fails when one of them cannot be resolved or loaded by Node itself.
import { createServer } from 'node:http'
import { IdpClient } from 'idp-client'
import { getAccessToken } from 'idp-client/browser'
import { isIdpError } from 'idp-client/errors'
import { IdpClient as ExpressIdpClient } from 'idp-client/express'
import { IdpProvider } from 'idp-client/react'
import { generateSessionCookie } from 'idp-client/testing'

const entries = [IdpClient, ExpressIdpClient, IdpProvider, getAccessToken, generateSessionCookie, isIdpError]
for (const imported of entries) {
  if (typeof imported !== 'function') throw new Error('an entry lacks one of its exports')
}

const idp = new IdpClient()

const page = idp.withPageAuthRequired(async () => {
  const session = await idp.getSession()
  return new Response(`signed in as ${session?.user.sub}`)
})

const api = idp.withApiAuthRequired(async () => {
  const session = await idp.getSession()
  return Response.json({ sub: session?.user.sub })
})

function route(request) {
  const { pathname } = new URL(request.url)
  if (pathname === '/protected') return page(request)
  if (pathname === '/api/me') return api(request)
  return new Response('public')
}

const server = createServer(async (incoming, outgoing) => {
  const request = new Request(new URL(incoming.url, process.env.APP_BASE_URL), {
    method: incoming.method,
    headers: Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
      values.map((value) => [name, value]),
    ),
  })
  const response = await idp.middleware(request, route)
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value)
  outgoing.setHeader('set-cookie', response.headers.getSetCookie())
  outgoing.end(Buffer.from(await response.arrayBuffer()))
})

server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'))
