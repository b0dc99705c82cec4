import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DevProvider } from 'idp-dev-provider'
import { freePort } from '../../fixtures/support/next-application.ts'

const program: string = fileURLToPath(new URL('../../../examples/cluster/server.mjs', import.meta.url))

/** The example of several processes, running against a provider and the store that its variables name. */
export interface Cluster {
  readonly url: string
  readonly output: () => string
  /** Lets every process save the tokens of the refreshes that it waits for. */
  stop(): Promise<void>
  /** Ends every process at once: without their primary the others end, too. */
  kill(): Promise<void>
}

/** Number of logouts that the store refused: each redirects, although nothing confirmed that the session was deleted. */
export const refusedLogouts = ({ output }: Cluster): number =>
  output().match(/Operation: delete/g)?.length ?? 0

async function opened(child: ChildProcess, output: () => string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (/^Open /m.test(output())) resolve()
    })
    child.once('exit', (code) => reject(new Error(`the cluster ended with ${code}\n${output()}`)))
  })
}

export async function startCluster(
  provider: DevProvider,
  env: Readonly<Record<string, string>>,
): Promise<Cluster> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  provider.registerApp(url)
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [program], {
    env: {
      PATH,
      ...provider.env,
      APP_BASE_URL: url,
      ALLOW_INSECURE: '1',
      PORT: `${port}`,
      ...env,
    } as unknown as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const collect = (chunk: Buffer): void => {
    text += chunk.toString('utf8')
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  await opened(child, () => text)
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
    child.kill(signal)
    await ended
  }
  return {
    url,
    output: () => text,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}
