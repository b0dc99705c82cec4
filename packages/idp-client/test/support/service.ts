import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** A program of the system, started by a test for itself. */
export interface Service {
  hasEnded(): boolean
  /** Ends it by that signal, for good after ten seconds. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface ServiceOptions {
  readonly command: string
  readonly args: readonly string[]
  /** Its output once it can be used. */
  readonly ready: RegExp
  readonly cwd: string
  /** The user that it runs as, if not the one of the tests. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
}

/** A program that ended before it was ready, with what it printed. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted'
}

export function onPath(command: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const folder = folders.find((candidate) => existsSync(join(candidate, command)))
  return folder === undefined ? null : join(folder, command)
}

/** Where the system can, a killed test process takes the program with it. */
function endingWithUs(command: string, args: readonly string[]): [command: string, args: string[]] {
  const setpriv = process.platform === 'linux' ? onPath('setpriv') : null
  return setpriv ? [setpriv, ['--pdeathsig', 'KILL', command, ...args]] : [command, [...args]]
}

function becomesReady(child: ChildProcess, ready: RegExp): Promise<void> {
  let output = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (ready.test(output)) resolve()
      })
    }
    child.once('error', reject)
    child.once('close', () => reject(new NotStarted(output)))
  })
}

/** Starts a program and waits until it can be used. */
export async function startService({ args, command, cwd, ready, user }: ServiceOptions): Promise<Service> {
  const child = spawn(...endingWithUs(command, args), {
    cwd,
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  const closed = once(child, 'close')
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  process.once('exit', kill)
  try {
    await becomesReady(child, ready)
  } catch (error) {
    process.off('exit', kill)
    throw error
  }
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    hasEnded,
    async end(signal) {
      const guard = setTimeout(kill, 10_000)
      if (!hasEnded()) child.kill(signal)
      await closed
      clearTimeout(guard)
      process.off('exit', kill)
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

/** Starts something on a free port; tries another one if the port was taken meanwhile. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (attempt === 5 || !(error instanceof NotStarted)) throw error
    }
  }
}
