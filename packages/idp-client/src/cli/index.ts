#!/usr/bin/env node
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { run } from './run.ts'

/** Asks at the terminal. Ctrl-C and Ctrl-D are no. */
async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const closed = once(terminal, 'close').then(() => '')
  // Some versions of Node.js reject then, others never settle.
  const input = await Promise.race([terminal.question(question).catch(() => ''), closed])
  terminal.close()
  return /^y(?:es)?$/i.test(input.trim())
}

const isInteractive = process.stdin.isTTY && process.stdout.isTTY
const context = { folder: process.cwd(), ...(isInteractive ? { confirm } : {}) }
const { code, exits, stdout, stderr } = await run(process.argv.slice(2), context)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = code
// Once everything is written: a pipe takes its time.
if (exits) process.stderr.write('', () => process.stdout.write('', () => process.exit()))
