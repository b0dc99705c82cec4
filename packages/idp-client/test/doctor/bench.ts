import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevProvider, DevProviderOptions } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { FindingCode } from '../../src/cli/doctor/codes.ts'
import { checkSetup } from '../../src/cli/doctor/doctor.ts'
import type { DoctorReport } from '../../src/cli/doctor/report.ts'
import { createReport, printJson, printText } from '../../src/cli/doctor/report.ts'
import { fromApplication } from '../../src/cli/doctor/setup.ts'
import { run } from '../../src/cli/run.ts'
import type { Application } from '../../src/engine.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import type { Front } from '../support/front.ts'
import { listenerOf, startFront } from '../support/front.ts'
import { PATIENT } from '../support/timeouts.ts'

export type Variables = Readonly<Record<string, string>>

/** A secret that no other run has, so that it can be searched for. */
const newSecret = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')

/** The output of one run of the doctor. */
export interface Examination {
  readonly report: DoctorReport
  /** Everything that was printed. */
  readonly output: string
  readonly exitCode: number
}

/** A provider and an application that fit, and the doctor. */
export interface Bench {
  readonly provider: DevProvider
  readonly options: IdpClientOptions
  /** The variables of the application. */
  readonly variables: Variables
  /** Strings that no output may contain. */
  readonly secrets: string[]
  /** Runs at the end of the case. */
  defer(end: () => unknown): void
  /** Starts the application; its base URL is that of the server, unless an option says another. */
  startApplication(options?: IdpClientOptions, around?: Around): Promise<Front>
  /** Runs the command with these variables in a file, as text and as JSON. */
  byVariables(changes?: Variables, args?: readonly string[]): Promise<Examination>
  /** Examines a client with these options. */
  byOptions(
    changes?: IdpClientOptions,
    args?: Partial<Parameters<typeof checkSetup>[1]>,
  ): Promise<Examination>
}

/** Responds in front of the application. */
export type Around = (request: Request, respond: () => Promise<Response>) => Promise<Response>

/** A single mistake, and the code that names it. */
export interface Mistake {
  readonly mistake: string
  readonly code: FindingCode
  /** Further codes: some mistakes are two. */
  readonly also?: readonly FindingCode[]
  readonly provider?: DevProviderOptions
  readonly make: (bench: Bench) => Promise<Examination>
}

function applicationOf(client: IdpClient): Application {
  return Reflect.get(client, 'application')
}

/** Writes the variables to a file for as long as it is used. */
export async function withFile<T>(variables: Variables, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-doctor-'))
  const file = join(folder, '.env')
  await writeFile(
    file,
    Object.entries(variables)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  return use(file).finally(() => rm(folder, { recursive: true, force: true }))
}

async function runCommand(variables: Variables, args: readonly string[]): Promise<Examination> {
  return withFile(variables, async (file) => {
    const { code, stderr, stdout } = await run(['doctor', '--env', file, '--json', ...args])
    const report: DoctorReport = JSON.parse(stdout)
    return { report, output: stdout + stderr + printText(report), exitCode: code }
  })
}

function createBench(provider: DevProvider, ends: (() => unknown)[]): Bench {
  const secret = newSecret()
  const baseUrl = 'http://localhost:3000'
  const { clientSecret = '' } = provider
  const options: IdpClientOptions = {
    domain: provider.issuer,
    clientId: provider.clientId,
    clientSecret,
    secret,
    appBaseUrl: baseUrl,
    allowInsecureRequests: true,
    httpTimeout: PATIENT,
    logger: () => {},
  }
  const bench: Bench = {
    provider,
    options,
    variables: {
      IDP_DOMAIN: provider.issuer,
      IDP_CLIENT_ID: provider.clientId,
      IDP_CLIENT_SECRET: clientSecret,
      IDP_SECRET: secret,
      APP_BASE_URL: baseUrl,
    },
    secrets: [secret, clientSecret],
    defer: (end) => void ends.push(end),
    async startApplication(changes = {}, around = (_request, respond) => respond()) {
      let client: IdpClient | undefined
      const front = await startFront(
        listenerOf(async (request) =>
          around(request, async () => client?.middleware(request) ?? new Response(null, { status: 503 })),
        ),
      )
      ends.push(() => front.stop())
      client = new IdpClient({ ...options, appBaseUrl: front.url, ...changes })
      return front
    },
    byVariables: (changes = {}, args = []) => runCommand({ ...bench.variables, ...changes }, args),
    async byOptions(changes = {}, args = {}) {
      const application = applicationOf(new IdpClient({ ...options, ...changes }))
      const parameters = { store: false, probe: true, json: false, ...args }
      const setup = fromApplication(application)
      const report = createReport([...setup.findings, ...(await checkSetup(setup, parameters))], [])
      return { report, output: printText(report) + printJson(report), exitCode: report.healthy ? 0 : 1 }
    },
  }
  return bench
}

/** Runs a case with a provider of its own. */
export async function withBench<T>(
  providerOptions: DevProviderOptions | undefined,
  use: (bench: Bench) => Promise<T>,
): Promise<T> {
  const provider = await startDevProvider({ host: '127.0.0.1', ...providerOptions })
  const ends: (() => unknown)[] = [() => provider.stop()]
  try {
    return await use(createBench(provider, ends))
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

export const codesIn = ({ report }: Examination): readonly string[] => report.findings.map(({ code }) => code)
