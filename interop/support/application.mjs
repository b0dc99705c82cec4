import { bin, fromRoot, must } from '../../tools/lib/run.mjs'
import { startProgram, untilResponding } from './program.mjs'

const SECRET = 'interop-5c1b3f0e9a7d4e62b8f1c0d3a4e59687'
const nextFolder = fromRoot('interop/applications/next')

/** How the two hosts are built and started; the scenarios know only paths. */
export const hosts = {
  web: {
    build: async () => {},
    start: () => [fromRoot('interop/applications/web.mjs')],
  },
  next: {
    build: () =>
      must(process.execPath, [bin.next, 'build'], {
        cwd: nextFolder,
        env: { NODE_ENV: undefined, NEXT_TELEMETRY_DISABLED: '1' },
      }),
    start: (port) => [bin.next, 'start', nextFolder, '-H', 'localhost', '-p', String(port)],
  },
}

/** Collects the reports that the processes of an application write to standard output. */
function readReports(programs) {
  const lines = programs.flatMap((program) => program.output().split('\n'))
  const reports = lines.filter((line) => /^\{"(?:event|request)":/.test(line)).map((line) => JSON.parse(line))
  const findReports = (kind) => reports.flatMap((report) => (report[kind] ? [report[kind]] : []))
  return { events: findReports('event'), requests: findReports('request') }
}

/**
 * Starts an application as it runs in production.
 *
 * @param {keyof typeof hosts} host
 * @param {{ issuer: string, client: { clientId: string, variables?: Record<string, string> }, ports: number[],
 *   options?: object, redisUrl?: string, certificate: string }} setup one process for each port; the first one is the
 *   address that the provider knows
 */
export async function startApplication(host, { issuer, client, ports, options = {}, redisUrl, certificate }) {
  const url = `http://localhost:${ports[0]}`
  const variables = {
    IDP_DOMAIN: issuer,
    IDP_CLIENT_ID: client.clientId,
    IDP_SECRET: SECRET,
    APP_BASE_URL: url,
    ...client.variables,
  }
  const env = {
    NODE_ENV: 'production',
    NODE_EXTRA_CA_CERTS: certificate,
    NEXT_TELEMETRY_DISABLED: '1',
    INTEROP_OPTIONS: JSON.stringify(options),
    ...variables,
    ...(redisUrl ? { INTEROP_REDIS: redisUrl } : {}),
  }
  const start = (port) =>
    startProgram(process.execPath, hosts[host].start(port), { env: { ...env, PORT: String(port) } })
  const programs = ports.map(start)
  await Promise.all(
    programs.map((program, index) => untilResponding(program, `http://localhost:${ports[index]}/nothing`)),
  )
  return {
    url,
    variables,
    urls: ports.map((port) => `http://localhost:${port}`),
    reports: () => readReports(programs),
    output: () => programs.map((program) => program.output()).join('\n'),
    stop: () => Promise.all(programs.map((program) => program.stop('SIGKILL'))),
  }
}
