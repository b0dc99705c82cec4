import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Complaints, splitMessages } from './complaints.ts'
import { nextDevVariables } from './node-options.ts'

const root: string = fileURLToPath(new URL('../..', import.meta.url))

/** Variables that a shell may have and that the demo sets itself. */
const SET_BY_DEMO =
  /^(?:IDP_|APP_BASE_URL$|FRAMEWORK_PUBLIC_|NEXT_|DEMO_|ORDERS_API_|SESSION_STORE$|REDIS_URL$|DATABASE_URL$|NODE_ENV$|NODE_OPTIONS$)/

export interface DemoProgram {
  /** The address that it asks to open. */
  readonly url: string
  readonly output: () => string
  /** Errors and warnings, to be compared with what a test announces. */
  readonly complaints: Complaints
  /** Presses Ctrl-C and waits; the exit code. */
  interrupt(): Promise<number | null>
}

/**
 * Runs what `npm run demo` runs, up to the line that names the address.
 *
 * @throws with everything that was printed, when it ends before
 */
export async function startDemoProgram(): Promise<DemoProgram> {
  const clean = Object.entries(process.env).filter(([name]) => !SET_BY_DEMO.test(name))
  const child = spawn(process.execPath, ['tools/demo.mjs'], {
    cwd: root,
    env: { ...Object.fromEntries(clean), ...nextDevVariables } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const complaints = new Complaints('the demo')
  const messages = splitMessages((message) => complaints.add(message))
  child.stderr.on('data', messages.write)
  child.stderr.on('end', messages.end)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const url = await new Promise<string>((resolve, reject) => {
    const collect = (chunk: Buffer): void => {
      output += chunk.toString('utf8')
      const found = /^Open (http:\/\/\S+) /m.exec(output)?.[1]
      if (found) resolve(found)
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    void ended.then((code) => reject(new Error(`the demo ended with ${code}\n${output}`)))
  })
  return {
    url,
    output: () => output,
    complaints,
    async interrupt() {
      if (child.exitCode === null) child.kill('SIGINT')
      return ended
    },
  }
}
