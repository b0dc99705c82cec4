import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { fromRoot } from '../../tools/lib/run.mjs'

/** Where everything is kept that is downloaded, built or generated; git does not see it. */
export const cacheFolder = fromRoot('.cache/interop')

/** The commands among `names` that are not installed. */
export function missingCommands(names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return names.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
}

/** Variables that would configure the library, Next or Java from outside. */
const foreign = /^(?:IDP_|APP_BASE_URL$|FRAMEWORK_PUBLIC_|NEXT_|NODE_ENV$|NODE_OPTIONS$|KC_|JAVA_|SPRING_)/

/** The environment of this process without them, and with `variables`. */
function environment(variables) {
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
  return { ...Object.fromEntries(kept), ...variables }
}

const running = new Set()

/**
 * Starts a program in a process group of its own.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 * @returns `output()` returns what it has printed so far, `failure()` a message once it has ended, `stop()` ends the
 *   whole group and resolves when it is gone
 */
export function startProgram(command, args, { cwd = fromRoot('.'), env = {} } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text) => {
      output += text
    })
  }
  const closed = once(child, 'close')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const program = {
    output: () => output,
    failure: () =>
      hasEnded()
        ? `${command} ended with ${child.signalCode ?? child.exitCode}\n${output.slice(-2000)}`
        : undefined,
    async stop(signal = 'SIGTERM') {
      running.delete(program)
      if (!hasEnded()) process.kill(-child.pid, signal)
      await closed
    },
  }
  running.add(program)
  return program
}

/** Ends whatever `startProgram` has started and nobody has stopped. */
export const stopPrograms = () => Promise.all([...running].map((program) => program.stop('SIGKILL')))

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/**
 * Calls `check` until it returns something truthy, and returns that. Throws after `seconds` with a message that names
 * what was waited for: the limit ends a run that hangs and asserts nothing.
 */
export async function until(what, check, seconds = 60) {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const value = await check()
    if (value) return value
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`)
    await pause(100)
  }
}

/** Waits until `url` responds with whatever status; throws when the program ends first. */
export function untilResponding(program, url, seconds = 300) {
  return until(
    `a response of ${url}`,
    async () => {
      const failure = program.failure()
      if (failure) throw new Error(failure)
      return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(10_000) })
        .then((response) => response.arrayBuffer())
        .then(
          () => true,
          () => false,
        )
    },
    seconds,
  )
}

/** A free port of the loopback interface. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}
