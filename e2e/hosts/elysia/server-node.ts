import { node } from '@elysiajs/node'
import { Elysia } from 'elysia'
import { app } from './app.ts'
import { port } from './support/contract.mjs'

new Elysia({ adapter: node() }).use(app).listen({ hostname: '127.0.0.1', port })
