import { createServer } from 'node:http'
import { NextRequest } from 'next/server.js'

/** Serves what the handlers of a Next.js application respond to Web requests, without Next.js around them. */
export function serve(handle) {
  createServer(async (incoming, outgoing) => {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    const response = await handle(
      new NextRequest(new URL(incoming.url, process.env.APP_BASE_URL), {
        method: incoming.method,
        headers: incoming.headers,
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      }),
    )
    outgoing.writeHead(response.status, [...response.headers].flat())
    outgoing.end(Buffer.from(await response.arrayBuffer()))
  }).listen(Number(process.env.PORT), '127.0.0.1')
}

/** Responds as the API of the applications before a migration. */
export const respond = (sub) =>
  sub === undefined ? Response.json({ error: 'unauthorized' }, { status: 401 }) : Response.json({ sub })
