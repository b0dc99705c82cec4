// The API of the orders: another server, which knows no sessions and accepts access tokens of the provider only.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { IdpClient } from 'idp-client/hono'

const { NODE_ENV, ORDERS_API_PORT = '4500' } = process.env

const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production', sessions: false })
const resource = idp.resource({
  audience: 'https://orders.example.test/',
  scopes: ['read:orders', 'write:orders'],
})
const reads = idp.requireAuth({ accept: [resource], scope: 'read:orders' })
const writes = idp.requireAuth({ accept: [resource], scope: 'write:orders' })

/** @typedef {{ id: string, item: string, receipt: number }} Order `receipt` is its size in bytes */

/** @type {Map<string, Order[]>} by user */
const stored = new Map()

/** Returns the orders of a user; the first two are made up. */
function ordersOf(/** @type {string} */ sub) {
  const orders = stored.get(sub) ?? [
    { id: 'O-1', item: 'Teapot, cast iron', receipt: 0 },
    { id: 'O-2', item: 'Cups, stoneware', receipt: 0 },
  ]
  stored.set(sub, orders)
  return orders
}

const app = new Hono()

app.use(idp.middleware)

app.get('/orders', reads, (c) => c.json({ orders: ordersOf(c.var.idpAuth.sub) }))

app.post('/orders', writes, async (c) => {
  const { item } = await c.req.json().catch(() => ({}))
  if (typeof item !== 'string' || item === '' || item.length > 80)
    return c.json({ error: 'invalid_item' }, 400)
  const orders = ordersOf(c.var.idpAuth.sub)
  const order = { id: `O-${orders.length + 1}`, item, receipt: 0 }
  orders.push(order)
  return c.json(order, 201, { location: `/orders/${order.id}` })
})

// One number each second. A browser that lost the connection continues after the last number it has seen.
app.get('/orders/events', reads, (c) =>
  streamSSE(c, async (stream) => {
    let tick = Number(c.req.header('last-event-id') ?? 0)
    while (!stream.aborted) {
      tick += 1
      await stream.writeSSE({ id: String(tick), event: 'tick', data: String(tick) })
      await stream.sleep(1000)
    }
  }),
)

app.put('/orders/:id/receipt', writes, async (c) => {
  const order = ordersOf(c.var.idpAuth.sub).find(({ id }) => id === c.req.param('id'))
  if (!order) return c.json({ error: 'not_found' }, 404)
  // Received as it arrives: neither the proxy nor this API has the whole file in memory.
  let bytes = 0
  for await (const part of c.req.raw.body ?? []) bytes += part.length
  order.receipt = bytes
  return c.json(order)
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(ORDERS_API_PORT) })
