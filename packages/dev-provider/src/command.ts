import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { DevProviderError } from './error.ts'

/** A command that runs beside the provider, usually the development server of the application. */
export interface RunningCommand {
  /** Resolves with its exit code; 128 plus the number of the signal that ended it, as shells count. */
  readonly ended: Promise<number>
  stop(signal: NodeJS.Signals): void
}

/** Splits the arguments at `--`: what follows it is a command with its own arguments. */
export function splitCommand(args: readonly string[]): {
  readonly own: readonly string[]
  readonly command: readonly string[] | undefined
} {
  const index = args.indexOf('--')
  if (index < 0) return { own: args, command: undefined }
  const command = args.slice(index + 1)
  if (command.length === 0)
    throw new DevProviderError('-- must be followed by a command, for example -- npm run dev.')
  return { own: args.slice(0, index), command }
}

/**
 * Starts a command with additional variables. Input and output are those of this process.
 *
 * @throws DevProviderError if the command cannot be started
 */
export async function startCommand(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<RunningCommand> {
  const child = spawnWords(words, { NODE_ENV: 'development', ...process.env, ...variables })
  const ended = once(child, 'exit').then(() => toExitCode(child))
  try {
    await once(child, 'spawn')
  } catch (error) {
    // The same failure: nobody waits for the end of a command that never ran.
    ended.catch(() => {})
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new DevProviderError(`The command ${words[0]} cannot be started (${reason}).`)
  }
  return { ended, stop: (signal) => void child.kill(signal) }
}

function spawnWords(words: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [program = '', ...args] = words
  // npm and what it installs are batch files on Windows, which only a shell starts.
  if (process.platform !== 'win32') return spawn(program, args, { env, stdio: 'inherit' })
  const line = words.map((word) => (/[\s"]/.test(word) ? `"${word.replaceAll('"', '\\"')}"` : word)).join(' ')
  return spawn(line, { env, stdio: 'inherit', shell: true })
}

function toExitCode({ exitCode, signalCode }: ChildProcess): number {
  return exitCode ?? (signalCode ? 128 + constants.signals[signalCode] : 1)
}
