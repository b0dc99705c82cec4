import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'
import { IdpClient } from 'idp-client/hono'

const { NODE_ENV, ORDERS_API_URL = 'http://127.0.0.1:4500', PORT = '3000' } = process.env

const idp = new IdpClient({
  allowInsecureRequests: NODE_ENV !== 'production',
  authorizationParameters: {
    audience: 'https://orders.example.test/',
    scope: 'openid profile email offline_access read:orders write:orders',
  },
  // No page gets an access token: they call the API through the proxy. Nor does a URL contain the ID token.
  enableAccessTokenEndpoint: false,
  includeIdTokenHintInOIDCLogoutUrl: false,
  noContentProfileResponseWhenUnauthenticated: true,
})

idp.proxy({ prefix: '/api/orders', target: `${ORDERS_API_URL}/orders` })

const app = new Hono()

// Serves /auth/… and /api/orders.
app.use(idp.middleware)
app.on('ALL', ['/api/*', '/auth/*'], (c) => c.json({ error: 'not_found' }, 404))

// The files that Vite has built. Any other path is one of the client-side router.
app.get('*', serveStatic({ root: './dist' }))
app.get('*', serveStatic({ path: './dist/index.html' }))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) })
