import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'

/**
 * A forward proxy as companies have one: tunnels by CONNECT, and nothing else.
 *
 * @returns {Promise<{ url: string, tunnels: string[], stop: () => Promise<void> }>} `tunnels` are the targets so far
 */
export async function startConnectProxy() {
  const tunnels = []
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connect', (request, client, head) => {
    tunnels.push(request.url)
    const { hostname, port } = new URL(`https://${request.url}`)
    const target = connect(Number(port || 443), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.write(head)
      target.pipe(client)
      client.pipe(target)
    })
    target.on('error', () => client.destroy())
    client.on('error', () => target.destroy())
    client.on('close', () => target.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    tunnels,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
