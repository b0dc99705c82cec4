import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { providers, starters } from '#starters'
import { assertKnown, parseCreateArguments } from './arguments.ts'
import { CreateError } from './create-error.ts'

/** A command with its arguments, or a line for the shell. */
export interface Command {
  readonly words: readonly string[]
  readonly cwd: string
  /** Whether the user sees its output and can respond to it; otherwise the output is returned. */
  readonly show: boolean
  readonly shell?: boolean
}

/** Where the command runs, and what it uses of the system. */
export interface CreateContext {
  readonly folder: string
  run(command: Command): Promise<{ readonly code: number; readonly output: string }>
  /** Asks for one of some names; without it nobody can choose. */
  readonly choose?: (question: string, names: readonly string[]) => Promise<string>
  readonly print: (text: string, stream: 'stdout' | 'stderr') => void
}

const hosts = Object.keys(starters)

const usage = `Usage: npm create idp-app [folder] -- [options]

Makes a new application with login and logout.

  --host <name>      the framework: ${hosts.join(', ')};
                     asks without it
  --provider <name>  ${providers.join(', ')}; default dev
  --from <folder>    takes idp-client and idp-dev-provider from packed files in this folder
`

async function assertEmpty(folder: string): Promise<void> {
  const names = existsSync(folder) ? await readdir(folder).catch(() => ['']) : []
  if (names.length > 0)
    throw new CreateError(
      `${folder} exists already. Choose another name, or run npx idp-client init in it.`,
      1,
    )
}

async function selectHost(named: string | undefined, { choose }: CreateContext): Promise<string> {
  if (named !== undefined) return named
  if (!choose) throw new CreateError(`Name the framework: --host <name>, one of: ${hosts.join(', ')}.`, 2)
  const chosen = await choose('Framework', hosts)
  assertKnown('host', chosen, hosts)
  return chosen
}

async function must(context: CreateContext, command: Command): Promise<string> {
  const { code, output } = await context.run(command)
  if (code === 0) return output
  throw new CreateError(`${output}${command.words.join(' ')} ended with exit code ${code}.`, 1)
}

/** Runs the commands of the guide in the order in which it prints them; what concerns the whole machine is left to the user. */
async function runStarter(lines: readonly string[], name: string, context: CreateContext): Promise<void> {
  const target = join(context.folder, name)
  let cwd = context.folder
  for (const line of lines) {
    const named = line.replaceAll('my-app', name)
    if (named === `cd ${name}`) cwd = target
    else if (!/ --global /.test(named)) await must(context, { words: [named], cwd, show: true, shell: true })
  }
}

function assertNode(title: string, needed: string | null): void {
  const [have, need] = [process.versions.node, needed ?? '0'].map((version) => Number.parseInt(version, 10))
  if (have !== undefined && need !== undefined && have < need)
    throw new CreateError(
      `The starter of ${title} needs Node.js ${need}, this is ${process.versions.node}.`,
      1,
    )
}

/** The command of idp-client that this package was installed with. */
const toClientCommand = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('idp-client/package.json')), 'dist/cli.js')

/** Runs `init`, and returns its text without the commands at its end, and those commands. */
async function runInit(args: readonly string[], cwd: string, context: CreateContext) {
  const words = [process.execPath, toClientCommand(), 'init', '--yes', '--force', ...args]
  const output = await must(context, { words, cwd, show: false })
  const lines = output.trimEnd().split('\n')
  return { text: lines.slice(0, -1).join('\n'), commands: (lines.at(-1) ?? '').trim().split(' && ') }
}

/**
 * Makes a new application: runs the official starter of its framework, adds login and logout by `idp-client init`, and installs
 * what that added.
 *
 * @returns the exit code
 */
export async function createApp(parameters: readonly string[], context: CreateContext): Promise<number> {
  if (parameters.includes('--help') || parameters.includes('-h')) {
    context.print(usage, 'stdout')
    return 0
  }
  try {
    await create(parameters, context)
    return 0
  } catch (error) {
    if (!(error instanceof CreateError)) throw error
    context.print(`${error.message}\n`, 'stderr')
    return error.code
  }
}

async function create(parameters: readonly string[], context: CreateContext): Promise<void> {
  const args = parseCreateArguments(parameters, { hosts, providers })
  const folder = join(context.folder, args.name)
  await assertEmpty(folder)
  const host = await selectHost(args.host, context)
  const starter = starters[host]
  if (starter === undefined) throw new CreateError(`There is no starter of ${host}.`, 1)
  assertNode(starter.title, starter.node)
  if (starter.needsStarter) await runStarter(starter.create, args.name, context)
  else await mkdir(folder, { recursive: true })
  const from = args.from === undefined ? [] : ['--from', relative(folder, resolve(context.folder, args.from))]
  const options = ['--host', host, '--provider', args.provider, ...from]
  const { text, commands } = await runInit(options, folder, context)
  for (const line of commands.slice(0, -1))
    await must(context, { words: [line], cwd: folder, show: true, shell: true })
  context.print(`\n${text}\n  cd ${args.name} && ${commands.at(-1)}\n`, 'stdout')
}
