import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const { app } = await import(pathToFileURL(resolve('app.mjs')).href)
const address = { hostname: '127.0.0.1', port: Number(process.env.PORT) }

if (globalThis.Bun) globalThis.Bun.serve({ ...address, fetch: app.fetch })
else globalThis.Deno.serve(address, app.fetch)
