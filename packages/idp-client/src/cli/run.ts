import { version } from '../lib/version.ts'

export interface Output {
  readonly code: 0 | 2
  readonly stdout: string
  readonly stderr: string
}

const usage = `Usage: idp-client <command>

Commands:
  secret      Prints a fresh cookie secret (32 random bytes as 64 hexadecimal digits), for IDP_SECRET

Options:
  --help      Prints this text
  --version   Prints the version
`

function freshSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function printed(stdout: string): Output {
  return { code: 0, stdout, stderr: '' }
}

/** What the command line prints and its exit code: 0, or 2 for a command line that makes no sense. */
export function run(parameters: readonly string[]): Output {
  const [command, ...rest] = parameters
  if (command !== undefined && rest.length === 0) {
    switch (command) {
      case 'secret':
        return printed(`${freshSecret()}\n`)
      case 'help':
      case '--help':
      case '-h':
        return printed(usage)
      case '--version':
      case '-v':
        return printed(`${version}\n`)
    }
  }
  return { code: 2, stdout: '', stderr: usage }
}
