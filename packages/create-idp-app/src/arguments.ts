import { parseArgs } from 'node:util'
import { CreateError } from './create-error.ts'

export interface CreateArguments {
  /** Name of the new folder. */
  readonly name: string
  readonly host: string | undefined
  readonly provider: string
  /** Folder with the packed packages, in place of the registry. */
  readonly from: string | undefined
}

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      allowPositionals: true,
      options: {
        host: { type: 'string' },
        provider: { type: 'string', default: 'dev' },
        from: { type: 'string' },
        // As of `init`; this command asks nothing that it has an option for.
        yes: { type: 'boolean', short: 'y' },
      },
    })
  } catch (error) {
    // The other sentences of Node.js are about positional arguments.
    const [reason] = String(error instanceof Error ? error.message : error).split('. ')
    throw new CreateError(`${reason}. Say --help for the options.`, 2)
  }
}

/** @throws CreateError if the name is not one of those that are known */
export function assertKnown(option: string, name: string, known: readonly string[]): void {
  if (!known.includes(name))
    throw new CreateError(`--${option} ${name} is not known. Use one of: ${known.join(', ')}.`, 2)
}

/**
 * Parses the arguments of the command.
 *
 * @throws CreateError with exit code 2 if they are wrong
 */
export function parseCreateArguments(
  parameters: readonly string[],
  known: { readonly hosts: readonly string[]; readonly providers: readonly string[] },
): CreateArguments {
  const { values, positionals } = parse(parameters)
  const [name = 'my-app', ...others] = positionals
  // Without the hyphens npm takes `--host` as an option of its own, and passes `next` on as a second folder.
  if (others.length > 0)
    throw new CreateError(
      'Name one folder only. With npm, two hyphens precede the options: npm create idp-app my-app -- --host next',
      2,
    )
  // The name is a word of the starters' commands, and that of the package.
  if (!/^[a-z\d][a-z\d._-]*$/.test(name))
    throw new CreateError(
      `${JSON.stringify(name)} is no name of a package: use lower-case letters, digits, hyphens.`,
      2,
    )
  if (values.host !== undefined) assertKnown('host', values.host, known.hosts)
  assertKnown('provider', values.provider, known.providers)
  return { name, host: values.host, provider: values.provider, from: values.from }
}
