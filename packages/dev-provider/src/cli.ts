#!/usr/bin/env node
import { parseArgs } from 'node:util'
import type { DevProvider } from './dev-provider.ts'
import { DevProviderError } from './error.ts'
import type { DevProviderOptions } from './options.ts'
import { startDevProvider } from './start.ts'

const HELP = `Usage: idp-dev-provider [options]

A real OpenID Connect provider for development, on loopback. Prints the variables that the
application needs and stays up until Ctrl-C.

  --port <n>           TCP port, 0 for a free one (4400)
  --host <name>        loopback name or address of the issuer (localhost)
  --path </p>          path of the issuer, for example /tenant-a
  --https              https with a CA made for this run
  --app <url>          base URL of an application, repeatable (http://localhost:3000)
  --auto-login <user>  sign in without a page
  --quiet              do not print a line per request
  --help               this text
`

interface Command {
  readonly options: DevProviderOptions
  readonly quiet: boolean
}

function portOf(text: string | undefined): number {
  const port = Number(text ?? '4400')
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new DevProviderError('--port must be a number from 0 to 65535.')
}

function read(args: readonly string[]): Command | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      path: { type: 'string' },
      https: { type: 'boolean' },
      app: { type: 'string', multiple: true },
      'auto-login': { type: 'string' },
      quiet: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return 'help'
  const autoLogin = values['auto-login']
  return {
    quiet: values.quiet ?? false,
    options: {
      port: portOf(values.port),
      apps: values.app ?? ['http://localhost:3000'],
      https: values.https ?? false,
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values.path === undefined ? {} : { path: values.path }),
      ...(autoLogin === undefined ? {} : { autoLogin }),
    },
  }
}

/** The variables in the form that dotenv files have. */
function environmentLines(provider: DevProvider): string[] {
  return Object.entries(provider.env).map(([name, value]) =>
    value.includes('\n') ? `${name}="${value.replaceAll('\n', '\\n')}"` : `${name}=${value}`,
  )
}

function banner(provider: DevProvider): string {
  const advice = provider.caPath
    ? 'Start the application with NODE_EXTRA_CA_CERTS in its environment: Node.js reads it only at start.'
    : 'This issuer is http: the application has to allow insecure requests (allowInsecureRequests: true).'
  return [
    ...environmentLines(provider),
    '',
    `# ${advice}`,
    `# Users: ${provider
      .users()
      .map((user) => user.name)
      .join(', ')}. Overview: ${provider.issuer}/dev. Stop with Ctrl-C.`,
  ].join('\n')
}

async function main(): Promise<void> {
  const command = read(process.argv.slice(2))
  if (command === 'help') {
    process.stdout.write(HELP)
    return
  }
  const log = command.quiet ? {} : { log: (line: string) => process.stderr.write(`${line}\n`) }
  const provider = await startDevProvider({ ...command.options, ...log })
  process.stdout.write(`${banner(provider)}\n`)
  const stop = (): void => {
    void provider.stop()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

try {
  await main()
} catch (error) {
  const known = error instanceof DevProviderError || error instanceof TypeError
  process.stderr.write(`${known ? error.message : String(error instanceof Error ? error.stack : error)}\n`)
  process.exitCode = 1
}
