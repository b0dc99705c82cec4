// An API that responds to every request with the same JSON, for the benchmark of the proxy. Prints its URL.
import { createServer } from 'node:http'

const body = JSON.stringify({ orders: Array.from({ length: 20 }, (_, id) => ({ id, item: 'tea' })) })

const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => response.setHeader('content-type', 'application/json').end(body))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
