#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { DEFAULT_APIS, parseApis } from './apis.ts'
import type { RunningCommand } from './command.ts'
import { splitCommand, startCommand } from './command.ts'
import type { DevProvider } from './dev-provider.ts'
import { toEnvLine, writeEnvFile } from './env-file.ts'
import { DevProviderError } from './error.ts'
import type { DevProviderOptions } from './options.ts'
import { readSettings } from './options.ts'
import { startDevProvider } from './start.ts'

const HELP = `Usage: idp-dev-provider [options] [-- <command>]

A real OpenID Connect provider for development, on loopback. Prints the variables that the
application needs and stays up until Ctrl-C. It accepts registered callback and logout URLs
only, as a hosted provider does.

With a command, for example -- npm run dev, it starts that with the variables in its environment,
and with NODE_ENV=development unless it is set, and ends when the command ends.

  --app <url>          base URL of an application, repeatable (http://localhost:3000);
                       registers its callback URL and, for logout, the base URL itself
  --write <file>       also write the variables to this dotenv file, once the provider
                       runs; other lines of the file stay
  --api <audience[=scope,...]>
                       API that access tokens can be requested for, in addition to the
                       default ones; repeatable: --api https://api.example.com/=read:orders
  --base-path </p>     path of the applications below their base URL, for example /shop; precedes
                       every callback path, and a logout may return to it
  --callback <path>    callback path of the applications, repeatable (/auth/callback)
  --logout-url <url>   URL, or path of the applications, that a logout may return to, repeatable
  --allow-loopback-redirects
                       accept every callback and logout URL on this machine
  --back-channel-logout
                       post logout tokens to /auth/backchannel-logout of the applications,
                       which need a session store for it
  --front-channel-logout
                       load /auth/frontchannel-logout of the applications in an iframe of the
                       logout page; they need a session store for it
  --port <n>           TCP port, 0 for a free one (4400)
  --host <name>        loopback name or address of the issuer (localhost)
  --path </p>          path of the issuer, for example /tenant-a
  --https              https with a CA made for this run
  --auto-login <user>  sign in without a page
  --set <name=value>   a setting of startDevProvider, repeatable: --set offlineAccess=refused
  --insecure-production
                       start although NODE_ENV is production
  --quiet              do not print a line per request
  --help               this text
`

interface Command {
  readonly options: DevProviderOptions
  readonly file: string | undefined
  readonly quiet: boolean
  /** Words of the command to start beside the provider. */
  readonly words: readonly string[] | undefined
}

function parsePort(text: string | undefined): number {
  const port = Number(text ?? '4400')
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new DevProviderError('--port must be a number from 0 to 65535.')
}

function parseFile([file, ...others]: readonly string[]): string | undefined {
  if (file === '') throw new DevProviderError('--write must name a file, for example --write .env.')
  if (others.length > 0) throw new DevProviderError('--write can name one file only.')
  return file
}

function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      app: { type: 'string', multiple: true, default: ['http://localhost:3000'] },
      write: { type: 'string', multiple: true, default: [] },
      api: { type: 'string', multiple: true, default: [] },
      'base-path': { type: 'string', default: '' },
      callback: { type: 'string', multiple: true, default: ['/auth/callback'] },
      'logout-url': { type: 'string', multiple: true, default: [] },
      'allow-loopback-redirects': { type: 'boolean', default: false },
      'back-channel-logout': { type: 'boolean', default: false },
      'front-channel-logout': { type: 'boolean', default: false },
      port: { type: 'string' },
      host: { type: 'string' },
      path: { type: 'string' },
      https: { type: 'boolean', default: false },
      'auto-login': { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      'insecure-production': { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  return values
}

function toAppOptions(
  values: ReturnType<typeof readArguments>,
): NonNullable<DevProviderOptions['appOptions']> {
  const base = values['base-path']
  if (!/^(\/[^/?#\s]+)*$/.test(base)) {
    throw new DevProviderError('--base-path must look like /shop: a slash first, none at the end.')
  }
  return {
    callbackPath: values.callback.map((path) => `${base}${path.startsWith('/') ? '' : '/'}${path}`),
    logoutUrls: [...(base === '' ? [] : [base, `${base}/`]), ...values['logout-url']],
    backChannelLogout: values['back-channel-logout'] && `${base}/auth/backchannel-logout`,
    frontChannelLogout: values['front-channel-logout'] && `${base}/auth/frontchannel-logout`,
  }
}

function read(args: readonly string[]): Command | 'help' {
  const { own, command: words } = splitCommand(args)
  const values = readArguments(own)
  if (values.help) return 'help'
  if (process.env['NODE_ENV'] === 'production' && !values['insecure-production']) {
    throw new DevProviderError(
      'NODE_ENV is production. This provider has no passwords: anyone who reaches it can sign in as any user. ' +
        'Unset NODE_ENV, or start it with --insecure-production.',
    )
  }
  const { host, https, path, quiet } = values
  const autoLogin = values['auto-login']
  return {
    quiet,
    words,
    file: parseFile(values.write),
    options: {
      ...readSettings(values.set),
      port: parsePort(values.port),
      https,
      apps: values.app,
      apis: [...DEFAULT_APIS, ...parseApis(values.api)],
      appOptions: toAppOptions(values),
      allowLoopbackRedirects: values['allow-loopback-redirects'],
      ...(host === undefined ? {} : { host }),
      ...(path === undefined ? {} : { path }),
      ...(autoLogin === undefined ? {} : { autoLogin }),
    },
  }
}

function toAdvice({ caPath }: DevProvider): string {
  return caPath
    ? 'Start the application with NODE_EXTRA_CA_CERTS in its environment: Node.js reads it only at start.'
    : 'This issuer is http: the application has to allow insecure requests (allowInsecureRequests: true).'
}

/** A command has the variables in its environment, so that only what a user wants to know is printed. */
function banner(provider: DevProvider, { file, words }: Command): string {
  const variables = Object.entries(provider.env)
  const users = provider.users().map((user) => user.name)
  return [
    ...(words ? [] : [...variables.map(([name, value]) => toEnvLine(name, value)), '']),
    ...(file === undefined
      ? []
      : [`# Wrote ${words ? 'the' : 'these'} ${variables.length} variables to ${file}.`]),
    ...(words ? [] : [`# ${toAdvice(provider)}`]),
    `# Users: ${users.join(', ')}. Overview: ${provider.issuer}/dev. Stop with Ctrl-C.`,
  ].join('\n')
}

async function writeVariables(provider: DevProvider, file: string | undefined): Promise<void> {
  if (file === undefined) return
  try {
    await writeEnvFile(file, provider.env)
  } catch (error) {
    await provider.stop()
    throw error
  }
}

/**
 * Runs the command until it ends, then stops the provider.
 *
 * @returns the exit code of the command
 */
async function runBeside(provider: DevProvider, words: readonly string[]): Promise<number> {
  let running: RunningCommand | undefined
  let early: NodeJS.Signals | undefined
  const stop = (signal: NodeJS.Signals): void => {
    early = signal
    running?.stop(signal)
  }
  // A terminal sends its Ctrl-C to the command as well.
  const onInterrupt = (): void => {
    if (!process.stdin.isTTY) stop('SIGINT')
  }
  const onTerminate = (): void => stop('SIGTERM')
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onTerminate)
  try {
    running = await startCommand(words, provider.env)
    if (early) running.stop(early)
    return await running.ended
  } finally {
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onTerminate)
    await provider.stop()
  }
}

async function main(): Promise<void> {
  const command = read(process.argv.slice(2))
  if (command === 'help') {
    process.stdout.write(HELP)
    return
  }
  const log = command.quiet ? {} : { log: (line: string) => process.stderr.write(`${line}\n`) }
  const provider = await startDevProvider({ ...command.options, ...log })
  await writeVariables(provider, command.file)
  const text = `${banner(provider, command)}\n`
  if (command.words) {
    process.stdout.write(text)
    process.exitCode = await runBeside(provider, command.words)
    return
  }
  const stop = (): void => {
    void provider.stop()
  }
  // Before the output: a program that waits for it may stop the command at once.
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  process.stdout.write(text)
}

try {
  await main()
} catch (error) {
  const known = error instanceof DevProviderError || error instanceof TypeError
  process.stderr.write(`${known ? error.message : String(error instanceof Error ? error.stack : error)}\n`)
  process.exitCode = 1
}
