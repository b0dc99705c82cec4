import { parseArgs } from 'node:util'
import type { InitData } from './guides.ts'
import { InitError } from './init-error.ts'

export interface InitArguments {
  /** `dev`, or the name of a provider of the guides. */
  readonly provider: string
  readonly host: string | undefined
  /** Folder with the packed packages, in place of the registry. */
  readonly from: string | undefined
  readonly yes: boolean
  readonly force: boolean
  readonly dryRun: boolean
}

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        provider: { type: 'string', default: 'dev' },
        host: { type: 'string' },
        from: { type: 'string' },
        yes: { type: 'boolean', short: 'y', default: false },
        force: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new InitError(error instanceof Error ? error.message : String(error), 2)
  }
}

function assertKnown(option: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new InitError(`--${option} ${name} is not known. Use one of: ${known.join(', ')}.`, 2)
}

/**
 * Parses the arguments of `init`.
 *
 * @throws InitError with exit code 2 if they are wrong
 */
export function parseInitArguments(parameters: readonly string[], data: InitData): InitArguments {
  const { provider, host, from, yes, force, 'dry-run': dryRun } = parse(parameters)
  assertKnown('provider', provider, ['dev', ...Object.keys(data.providers)])
  if (host !== undefined) assertKnown('host', host, Object.keys(data.guides))
  return { provider, host, from, yes, force, dryRun }
}
