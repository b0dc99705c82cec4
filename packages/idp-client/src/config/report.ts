import { InvalidConfigurationError } from '../errors/configuration.ts'
import { Lru } from '../lib/lru.ts'
import { processWide } from '../lib/registry.ts'
import type { Problem, Resolved } from './config.ts'

function toList(problems: readonly Problem[]): string {
  const [first, ...others] = problems.map(({ message }) => message)
  return first !== undefined && others.length === 0
    ? ` ${first}`
    : problems.map(({ message }) => `\n  - ${message}`).join('')
}

/** One error that lists everything that keeps the client from working, each with its fix. */
export function configurationError(
  problems: readonly Problem[],
  { atConstruction = false }: { readonly atConstruction?: boolean } = {},
): InvalidConfigurationError {
  const blocking = problems.filter(({ kind }) => kind !== 'notice')
  return new InvalidConfigurationError('INVALID_CONFIGURATION', {
    detail: toList(blocking).replace(/^ /, ''),
    atConstruction,
  })
}

/**
 * Identifies this evaluation of the module. A host may evaluate it several times in one process: `next build`, hot
 * reload.
 */
const evaluation = Symbol('evaluation')

/** Maximum number of remembered messages, which are of the library, with values of the configuration. */
const MAX_TEXTS = 100

/** Returns whether another evaluation of this module in the process has reported the same message. */
function isRepeated(message: string): boolean {
  const reported = processWide('mark:reported-configuration/1', () => new Lru<string, symbol>(MAX_TEXTS))
  const by = reported.get(message)
  if (by === undefined) reported.set(message, evaluation)
  return by !== undefined && by !== evaluation
}

/**
 * Reports the issues of the construction: a `NOTICE` for each minor one, then at most one `CONFIGURATION` warning
 * that lists everything that is missing or invalid.
 *
 * @throws InvalidConfigurationError if an option (not a variable) is invalid: a mistake in the code, which must not
 * reach production
 */
export function report({ settings, problems }: Resolved): void {
  for (const { kind, message, remedy = 'INVALID_CONFIGURATION' } of problems) {
    if (kind === 'notice' && !isRepeated(message))
      settings.log.emit({ level: 'warn', code: 'NOTICE', message, remedy })
  }
  const blocking = problems.filter(({ kind }) => kind !== 'notice')
  if (blocking.some(({ kind }) => kind === 'wrong-option'))
    throw configurationError(problems, { atConstruction: true })
  if (blocking.length === 0) return
  const refused = settings.sessions ? 'session and login' : 'access token'
  const message = `The configuration is incomplete, so every ${refused} is refused:${toList(blocking)}`
  const remedy = 'INVALID_CONFIGURATION'
  if (!isRepeated(message)) settings.log.emit({ level: 'warn', code: 'CONFIGURATION', message, remedy })
}
