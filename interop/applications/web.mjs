// The Web entry behind node:http.
import { createServer } from 'node:http'
import { customClock, customFetch, IdpClient } from 'idp-client'
import { createApis } from './apis.mjs'
import { respond, respondToError } from './operations.mjs'
import { fingerprint, readOptions } from './settings.mjs'

const { APP_BASE_URL: baseUrl, PORT } = process.env
const idp = new IdpClient(await readOptions(process.env, { customClock, customFetch }))
const granted = () => new Response('granted')

const guarded = {
  ...createApis(idp),
  '/gold': idp.withPageAuthRequired(granted, { acr: 'gold' }),
  '/recent': idp.withPageAuthRequired(granted, { maxAge: 1 }),
  '/rendered': idp.withPageAuthRequired(async () => {
    const { token } = await idp.getAccessToken()
    return new Response(`token=${fingerprint(token)}`)
  }),
}

function application(request) {
  const handler = guarded[new URL(request.url).pathname]
  return handler ? handler(request) : respond(idp, request)
}

function toRequest(incoming) {
  const { headersDistinct, method, url } = incoming
  const headers = Object.entries(headersDistinct).flatMap(([name, values]) =>
    values.map((value) => [name, value]),
  )
  const body = method === 'POST' ? { body: incoming, duplex: 'half' } : {}
  return new Request(new URL(url, baseUrl), { method, headers, ...body })
}

const server = createServer(async (incoming, outgoing) => {
  const response = await idp.middleware(toRequest(incoming), application).catch(respondToError)
  const headers = [...response.headers].filter(([name]) => name !== 'set-cookie')
  for (const [name, value] of headers) outgoing.setHeader(name, value)
  outgoing.setHeader('set-cookie', response.headers.getSetCookie())
  outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()))
})

server.listen(Number(PORT), 'localhost')
