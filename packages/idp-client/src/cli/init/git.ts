import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { InitError } from './init-error.ts'

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

/** Whether a folder is in a repository as far as the file system tells. */
function isInRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true
  const parent = dirname(folder)
  return parent !== folder && isInRepository(parent)
}

/** Whether the output of `git check-ignore --verbose` names a rule that every clone of the repository has. */
function isSharedRule(output: string | null): boolean {
  const [, source = '', pattern = ''] = /^(.*?):\d+:(.*?)\t/.exec(output ?? '') ?? []
  return /(?:^|\/)\.gitignore$/.test(source) && !isAbsolute(source) && !pattern.startsWith('!')
}

const unreadable = (): InitError =>
  new InitError(
    'This folder is in a git repository that git cannot read. Correct what git status says, or install git.',
  )

/**
 * Reads the state of a folder in git. Reading takes no lock.
 *
 * @throws InitError if there is a repository that git cannot read, so that nobody knows what it tracks
 */
export async function readGit(folder: string): Promise<Git> {
  const git = async (...args: string[]): Promise<string | null> => {
    try {
      return (await run('git', ['--no-optional-locks', '-C', folder, ...args])).stdout
    } catch {
      return null
    }
  }
  const isInside = await git('rev-parse', '--is-inside-work-tree')
  if (isInside === null && isInRepository(resolve(folder))) throw unreadable()
  if (isInside?.trim() !== 'true') return { kind: 'none', changes: [], isTracked: never, isIgnored: never }
  const status = await git('status', '--porcelain', '--untracked-files=normal', '--', '.')
  if (status === null) throw unreadable()
  return {
    kind: (await git('rev-parse', '--verify', '--quiet', 'HEAD')) === null ? 'unborn' : 'repository',
    changes: status.split('\n').filter((line) => line !== ''),
    isTracked: async (path) => (await git('ls-files', '--error-unmatch', '--', path)) !== null,
    isIgnored: async (path) => isSharedRule(await git('check-ignore', '--verbose', '--', path)),
  }
}
