import { app } from './app.ts'
import { port } from './support/contract.mjs'

app.listen({ hostname: '127.0.0.1', port })
