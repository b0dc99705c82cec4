import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import * as markdown from '../../tools/lib/markdown.mjs'

/** Absolute path of a file of the repository. */
export const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

export type Step =
  | { readonly kind: 'run'; readonly commands: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string }

export const parseSteps: (text: string) => Step[] = markdown.parseSteps

/** The steps below a heading of a page. */
export function stepsBelow(page: string, heading: string): Step[] {
  return parseSteps(markdown.findSection(readFileSync(fromRoot(page), 'utf8'), heading))
}

/** Commands that do not end: the development provider and the application itself. */
const LASTING = /^(?:npx idp-dev-provider|npm run dev|(?:NODE_ENV=development )?npx tsx) /m

export interface WalkthroughOptions {
  /** Where the reader begins: the folder that the tarballs are next to. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Replacements in the printed text: free ports and pinned versions. */
  readonly replacements: readonly (readonly [printed: string | RegExp, used: string])[]
}

/** Follows the steps of a page as a reader would, in a shell and a folder of its own. */
export class Walkthrough {
  readonly #options: WalkthroughOptions
  readonly #lasting: { child: ChildProcess; output: string }[] = []
  /** The folder that the last command went to. */
  folder: string

  constructor(options: WalkthroughOptions) {
    this.#options = options
    this.folder = options.folder
  }

  async follow(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.kind === 'file') this.write(step.path, step.text)
      else if (LASTING.test(`${step.commands} `)) await this.#start(this.#used(step.commands))
      else await this.run(step.commands)
    }
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, this.#used(text))
  }

  remove(path: string): void {
    rmSync(join(this.folder, path), { recursive: true, force: true })
  }

  /** Runs commands to their end; what they printed. */
  async run(commands: string): Promise<string> {
    const child = this.#shell(`set -e\n${this.#used(commands)}\nprintf '\\n%s' "$PWD"`)
    const output = collect(child.stdout, child.stderr)
    // Standard error can arrive later, although it was written before.
    const standardOutput = collect(child.stdout)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`exit code ${code}\n${commands}\n${output()}`)
    const text = standardOutput()
    this.folder = text.slice(text.lastIndexOf('\n') + 1)
    return output()
  }

  /** The output of all programs that are still running. */
  output(): string {
    return this.#lasting.map(({ output }) => output).join('\n')
  }

  /** Ends what was started last, or everything. */
  async stop(count = this.#lasting.length): Promise<void> {
    for (const { child } of this.#lasting.splice(-count)) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue
      const ended = once(child, 'close')
      process.kill(-child.pid, 'SIGKILL')
      await ended
    }
  }

  #used(text: string): string {
    return this.#options.replacements.reduce(
      (result, [printed, used]) => result.replaceAll(printed, used),
      text,
    )
  }

  #shell(script: string): ChildProcess {
    return spawn('sh', ['-c', script], {
      cwd: this.folder,
      env: this.#options.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
  }

  /** Starts a lasting command; the file of `--write` has to be there before the next step reads it. */
  async #start(command: string): Promise<void> {
    const started = { child: this.#shell(command), output: '' }
    this.#lasting.push(started)
    for (const stream of [started.child.stdout, started.child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        started.output += chunk.toString('utf8')
      })
    }
    const file = / --write (\S+)/.exec(command)?.[1]
    if (file === undefined) return
    await until(() => {
      if (started.child.exitCode !== null) throw new Error(`${command} ended\n${started.output}`)
      const path = join(this.folder, file)
      return existsSync(path) && readFileSync(path, 'utf8').includes('APP_BASE_URL=')
    })
  }
}

function collect(...streams: readonly (Readable | null)[]): () => string {
  let output = ''
  for (const stream of streams) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
    })
  }
  return () => output
}

/** Waits until something holds; the test's own time limit ends a wait that is in vain. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100))
}

export async function responds(url: string): Promise<boolean> {
  try {
    await (await fetch(url, { redirect: 'manual' })).arrayBuffer()
    return true
  } catch {
    return false
  }
}
