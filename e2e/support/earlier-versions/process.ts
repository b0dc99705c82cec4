import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../../fixtures/support/next-application.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const run = promisify(execFile)

export const CURRENT = 'current'

/** Returns the program that uses a version. An earlier one is unpacked where it finds its dependencies. */
export async function installVersion(version: string): Promise<string> {
  const worker = here('worker.mjs')
  if (version === CURRENT) return worker
  const folder = here(`../../../node_modules/.cache/idp-client-${version}`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await run('tar', ['-xzf', here(`../../fixtures/earlier-versions/${version}.tgz`), '-C', folder])
  const program = join(folder, 'package', 'worker.mjs')
  await copyFile(worker, program)
  return program
}

/** One process of an application. */
export interface AppProcess {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a process; resolves when it takes requests. */
export async function startProcess(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const port = await freePort()
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [program], {
    env: { PATH, ...env, PORT: `${port}` } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  let output = ''
  const collect = (chunk: Buffer): void => {
    output += chunk.toString('utf8')
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ready = once(child.stdout, 'data')
  const result = await Promise.race([ready, ended])
  if (result[0] === child.exitCode) throw new Error(`the process ended\n${output}`)
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
