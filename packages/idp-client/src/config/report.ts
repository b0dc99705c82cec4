import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { Problem, Resolved } from './config.ts'

function listOf(problems: readonly Problem[]): string {
  return problems.map(({ message }) => `\n  - ${message}`).join('')
}

/** One error that lists everything that keeps the client from working, each with its cure. */
export function configurationError(problems: readonly Problem[]): InvalidConfigurationError {
  const blocking = problems.filter(({ kind }) => kind !== 'notice')
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail: listOf(blocking) })
}

/**
 * Tells what construction found: a `NOTICE` for each oddity, then at most one `CONFIGURATION` warning that lists all
 * that is missing or wrong.
 *
 * @throws InvalidConfigurationError when an option (not a variable) is wrong: that is a mistake in the code, which must
 * not reach production.
 */
export function report({ settings, problems }: Resolved): void {
  for (const { kind, message } of problems) {
    if (kind === 'notice') settings.log.emit({ level: 'warn', code: 'NOTICE', message })
  }
  const blocking = problems.filter(({ kind }) => kind !== 'notice')
  if (blocking.some(({ kind }) => kind === 'wrong-option')) throw configurationError(problems)
  if (blocking.length === 0) return
  settings.log.emit({
    level: 'warn',
    code: 'CONFIGURATION',
    message: `IdpClient cannot work yet; until this is corrected nobody is signed in:${listOf(blocking)}`,
  })
}
