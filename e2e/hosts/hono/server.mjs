import { serve } from '@hono/node-server'
import { app } from './app.mjs'
import { port } from './support/contract.mjs'

serve({ fetch: app.fetch, hostname: '127.0.0.1', port })
