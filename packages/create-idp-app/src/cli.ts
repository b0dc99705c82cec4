#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Command, CreateContext } from './index.ts'
import { createApp } from './index.ts'

// npx passes its own --package on to every npx below it, which would look for its command there.
const { npm_config_package: _, ...env } = process.env

async function run({ words, cwd, show, shell = false }: Command) {
  const [program = '', ...args] = words
  const child = spawn(program, args, {
    cwd,
    env,
    shell,
    stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const [code] = await once(child, 'close')
  return { code: typeof code === 'number' ? code : 1, output }
}

async function choose(question: string, names: readonly string[]): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const closed = once(terminal, 'close').then(() => '')
  const list = names.map((name, index) => `  ${index + 1}  ${name}`).join('\n')
  // Some versions of Node.js reject after Ctrl-C, others never settle.
  const typed = terminal.question(`${list}\n${question}: `).catch(() => '')
  const text = (await Promise.race([typed, closed])).trim()
  terminal.close()
  return names[Number(text) - 1] ?? text
}

const context: CreateContext = {
  folder: process.cwd(),
  run,
  print: (text, stream) => void process[stream].write(text),
  ...(process.stdin.isTTY && process.stdout.isTTY ? { choose } : {}),
}
process.exitCode = await createApp(process.argv.slice(2), context)
