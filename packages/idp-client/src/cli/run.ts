import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { version } from '../lib/version.ts'
import type { CreateCodemod } from './codemod/application.ts'
import { expressOpenidConnect } from './codemod/express-openid-connect.ts'
import { nextAuth } from './codemod/next-auth.ts'
import { nextjsAuth0 } from './codemod/nextjs-auth0.ts'
import { runCodemod } from './codemod/run-codemod.ts'
import type { DoctorParameters } from './doctor/usage.ts'
import { parseParameters } from './doctor/usage.ts'
import type { InitContext } from './init/init.ts'
import { InitError } from './init/init-error.ts'

export interface Output {
  readonly code: 0 | 1 | 2
  /** The process ends although something of the application may keep it alive, such as a connection of its session store. */
  readonly exits?: boolean
  readonly stdout: string
  readonly stderr: string
}

const usage = `Usage: idp-client <command>

Commands:
  init [--provider <name>] [--host <name>] [--yes] [--dry-run] [--force] [--from <folder>]
              Adds login and logout to the application in this folder, or to an empty one: shows what it writes, asks,
              and ends with the command that starts everything. The provider is dev, which runs on this machine, or one
              of keycloak, auth0, entra, okta, google, cognito, zitadel, authentik, ory, spring. --host names the
              framework, --force writes although git has uncommitted changes, --from names the folder with the packed
              packages
  secret      Prints a fresh cookie secret (32 random bytes as 64 hexadecimal digits), for IDP_SECRET
  dpop-keys   Prints a fresh ES256 key pair as the lines IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY
  codemod nextjs-auth0 <folder> [--dry-run]
  codemod express-openid-connect <folder> [--dry-run]
  codemod next-auth <folder> [--dry-run]
              Rewrites an application that uses nextjs-auth0 4, express-openid-connect 3 or next-auth 4, and
              lists what is left to do by hand
  doctor [--env <file>] [--config <module>] [--app <url>] [--store] [--no-probe] [--json]
              Names what is wrong with the set-up, with its fix; prints nothing if all is well

Options:
  --help      Prints this text
  --version   Prints the version
`

/** Returns one line per key for environment files: quoted, with line breaks as \\n. */
function generateDpopKeys(): string {
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const [publicKey, privateKey] = [pair.publicKey, pair.privateKey].map((pem) =>
    pem.trim().replaceAll('\n', '\\n'),
  )
  return `IDP_DPOP_PUBLIC_KEY="${publicKey}"\nIDP_DPOP_PRIVATE_KEY="${privateKey}"\n`
}

const success = (stdout: string): Output => ({ code: 0, stdout, stderr: '' })
const failure = (code: 1 | 2, stderr: string): Output => ({ code, stdout: '', stderr })
const toReason = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`

const codemods: ReadonlyMap<string, CreateCodemod> = new Map([
  ['nextjs-auth0', nextjsAuth0],
  ['express-openid-connect', expressOpenidConnect],
  ['next-auth', nextAuth],
])

/** Runs a codemod; exit code 1 if the folder cannot be read or written. */
async function codemod(parameters: readonly string[]): Promise<Output> {
  const [name = '', folder, ...flags] = parameters
  const create = codemods.get(name)
  const write = flags.length === 0
  const isFolder = folder !== undefined && !folder.startsWith('-')
  if (create === undefined || !isFolder || (!write && flags.join() !== '--dry-run')) return invalidUsage
  try {
    const { changed, remarks } = await runCodemod(create, folder, write)
    if (changed.length + remarks.length === 0) return success('Nothing to change.\n')
    return success(list(write ? 'Changed:' : 'Would change:', changed) + list('To do by hand:', remarks))
  } catch (error) {
    return failure(1, `${toReason(error)}\n`)
  }
}

const doctorUsage = `Usage: idp-client doctor [options]

Options:
  --env <file>       Variables of the application; default: .env and .env.local, if they exist
  --config <module>  Module that exports the client, such as ./lib/idp.ts: checks the options in the code, too
  --app <url>        Base URL of the running application: checks its routes and the proxy in front of it
  --store            Writes a record to the session store of the client and deletes it; needs --config
  --no-probe         Requests only metadata and keys of the provider
  --json             Prints a report that docs/reference/doctor.schema.json describes

Exit code: 0 if nothing is wrong, 1 with findings, 2 for wrong options
`

/** Runs `doctor`; exit code 1 with findings, 2 if its parameters are wrong. */
async function doctor(args: readonly string[]): Promise<Output> {
  let parameters: DoctorParameters
  try {
    parameters = parseParameters(args)
  } catch (error) {
    return failure(2, `${toReason(error)}\n\n${doctorUsage}`)
  }
  const { readVariables } = await import('./doctor/setup.ts')
  const variables = readVariables(parameters.env)
  if (!variables) return failure(2, `${parameters.env ?? '.env or .env.local'} cannot be read.\n`)
  const { examine } = await import('./doctor/doctor.ts')
  const { printJson, printText } = await import('./doctor/report.ts')
  const report = await examine(parameters, variables)
  const stdout = parameters.json ? printJson(report) : printText(report)
  const stderr = report.notes.map((note) => `${note}\n`).join('')
  return { code: report.healthy ? 0 : 1, exits: parameters.config !== undefined, stdout, stderr }
}

/** Runs `init`; exit code 1 if it wrote nothing although there is something to write. */
async function runInit(parameters: readonly string[], context: InitContext): Promise<Output> {
  try {
    const { init } = await import('./init/init.ts')
    const { code, text } = await init(parameters, context)
    return code === 0 ? success(text) : failure(code, text)
  } catch (error) {
    if (error instanceof InitError) return failure(error.code, `${error.message}\n`)
    throw error
  }
}

const invalidUsage = failure(2, usage)

/** Returns the output of the command line and its exit code: 0, 1 for a failure, or 2 for invalid arguments. */
export async function run(
  parameters: readonly string[],
  context: InitContext = { folder: process.cwd() },
): Promise<Output> {
  const [command, ...rest] = parameters
  if (rest.includes('--help')) return success(command === 'doctor' ? doctorUsage : usage)
  if (command === 'init') return runInit(rest, context)
  if (command === 'codemod') return codemod(rest)
  if (command === 'doctor') return doctor(rest)
  if (command !== undefined && rest.length === 0) {
    switch (command) {
      case 'secret':
        return success(`${randomBytes(32).toString('hex')}\n`)
      case 'dpop-keys':
        return success(generateDpopKeys())
      case 'help':
      case '--help':
      case '-h':
        return success(usage)
      case '--version':
      case '-v':
        return success(`${version}\n`)
    }
  }
  return invalidUsage
}
