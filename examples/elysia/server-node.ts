import { node } from '@elysiajs/node'
import { Elysia } from 'elysia'
import { app } from './app.ts'

const server = new Elysia({ adapter: node() })

server.use(app).listen({ hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
