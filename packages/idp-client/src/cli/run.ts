import { generateDpopKeyPair, pemPair } from '../crypto/keys.ts'
import { version } from '../lib/version.ts'

export interface Output {
  readonly code: 0 | 2
  readonly stdout: string
  readonly stderr: string
}

const usage = `Usage: idp-client <command>

Commands:
  secret      Prints a fresh cookie secret (32 random bytes as 64 hexadecimal digits), for IDP_SECRET
  dpop-keys   Prints a fresh ES256 key pair as the lines IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY

Options:
  --help      Prints this text
  --version   Prints the version
`

function freshSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** One line each, as environment files take it: in quotes, with line breaks as \\n. */
async function freshDpopKeys(): Promise<string> {
  const pems = await pemPair(await generateDpopKeyPair({ extractable: true }))
  const [publicKey, privateKey] = pems.map((pem) => pem.replaceAll('\n', '\\n'))
  return `IDP_DPOP_PUBLIC_KEY="${publicKey}"\nIDP_DPOP_PRIVATE_KEY="${privateKey}"\n`
}

function printed(stdout: string): Output {
  return { code: 0, stdout, stderr: '' }
}

/** What the command line prints and its exit code: 0, or 2 for a command line that makes no sense. */
export async function run(parameters: readonly string[]): Promise<Output> {
  const [command, ...rest] = parameters
  if (command !== undefined && rest.length === 0) {
    switch (command) {
      case 'secret':
        return printed(`${freshSecret()}\n`)
      case 'dpop-keys':
        return printed(await freshDpopKeys())
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
