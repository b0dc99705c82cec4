// Serves the function `handler` of `lambda.mjs` in the current folder as an HTTP API of API Gateway or a function URL does: each
// request is an event of payload format 2.0, and the result is the response. Events and results pass through JSON, and one
// event is handled at a time, as in one execution environment of Lambda.
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/** Media types whose bodies API Gateway passes on as text; all others, also forms, are in base64. */
const textual = /^(?:text\/|application\/(?:json|javascript|xml)\b)/

/** Returns the event of a request. Cookies are in a list of their own, and not among the headers, which repeated ones join. */
function toEvent({ method, url, headersDistinct, socket }, body) {
  const joined = Object.entries(headersDistinct).map(([name, values]) => [name, values.join(',')])
  const { cookie, ...headers } = Object.fromEntries(joined)
  const { pathname, search } = new URL(url, 'http://localhost')
  const text = textual.test(headers['content-type'] ?? '')
  const now = new Date()
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: pathname,
    rawQueryString: search.slice(1),
    ...(cookie === undefined ? {} : { cookies: cookie.split('; ') }),
    headers,
    requestContext: {
      accountId: '123456789012',
      apiId: 'api-id',
      domainName: headers.host,
      domainPrefix: 'api-id',
      http: {
        method,
        path: pathname,
        protocol: 'HTTP/1.1',
        sourceIp: socket.remoteAddress,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: 'request-id',
      routeKey: '$default',
      stage: '$default',
      time: now.toUTCString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length === 0 ? {} : { body: body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !text,
  }
}

/** Sends the result of a function. Its headers have one value each: cookies are in a list of their own. */
function sendResult(response, { statusCode, headers, cookies = [], body = '', isBase64Encoded }) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  for (const line of cookies) response.appendHeader('set-cookie', line)
  response.statusCode = statusCode
  response.end(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
}

const throughJson = (value) => JSON.parse(JSON.stringify(value))

/** Serves the function on a port of the loopback address. */
export async function serveFunction(port) {
  const { handler } = await import(pathToFileURL(resolve('lambda.mjs')).href)
  let previous = Promise.resolve()
  const invoke = (event) => {
    const result = previous.then(() => handler(throughJson(event), { functionName: 'application' }))
    previous = result.catch(() => {})
    return result
  }
  createServer(async (request, response) => {
    try {
      sendResult(response, throughJson(await invoke(toEvent(request, await buffer(request)))))
    } catch (error) {
      process.stderr.write(`${error?.stack ?? error}\n`)
      // The response to a function that failed, or to a result without status and headers.
      response.writeHead(502).end('{"message":"Internal Server Error"}')
    }
  }).listen(port, '127.0.0.1')
}
