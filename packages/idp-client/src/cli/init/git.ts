import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The state of a folder in git. */
export interface Git {
  /** `none`: no git, or no repository; `unborn`: a repository without a commit. In both nothing can be restored. */
  readonly kind: 'none' | 'unborn' | 'repository'
  /** Changed and untracked files of the folder. */
  readonly changes: readonly string[]
  isTracked(path: string): Promise<boolean>
  isIgnored(path: string): Promise<boolean>
}

const never = async (): Promise<boolean> => false

/** Reads the state of a folder in git. Reading takes no lock. */
export async function readGit(folder: string): Promise<Git> {
  const git = async (...args: string[]): Promise<string | null> => {
    try {
      return (await run('git', ['--no-optional-locks', '-C', folder, ...args])).stdout
    } catch {
      return null
    }
  }
  if ((await git('rev-parse', '--is-inside-work-tree'))?.trim() !== 'true')
    return { kind: 'none', changes: [], isTracked: never, isIgnored: never }
  const status = (await git('status', '--porcelain', '--untracked-files=normal', '--', '.')) ?? ''
  return {
    kind: (await git('rev-parse', '--verify', '--quiet', 'HEAD')) === null ? 'unborn' : 'repository',
    changes: status.split('\n').filter((line) => line !== ''),
    isTracked: async (path) => (await git('ls-files', '--error-unmatch', '--', path)) !== null,
    isIgnored: async (path) => (await git('check-ignore', '--quiet', '--', path)) !== null,
  }
}
