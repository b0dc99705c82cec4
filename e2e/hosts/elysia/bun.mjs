// node bun.mjs: serves `server.ts` of the current folder on Bun.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const bun = fileURLToPath(new URL('../node_modules/.bin/bun', import.meta.url))
const server = spawn(bun, ['server.ts'], { stdio: 'inherit' })
server.on('exit', (code) => process.exit(code ?? 1))
