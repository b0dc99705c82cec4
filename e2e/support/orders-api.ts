import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DevProvider } from 'idp-dev-provider'

const folder: string = fileURLToPath(new URL('../../examples/next', import.meta.url))

export interface OrdersApi {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts the API of the example.
 *
 * @param application Base URL of the application that may call it from a browser.
 */
export async function startOrdersApi(
  provider: DevProvider,
  application: string,
  port: number,
): Promise<OrdersApi> {
  const child = spawn(process.execPath, ['api-server.mjs'], {
    cwd: folder,
    env: {
      ...process.env,
      ...(provider.caPath === undefined ? {} : { NODE_EXTRA_CA_CERTS: provider.caPath }),
      IDP_DOMAIN: provider.issuer,
      APP_BASE_URL: application,
      ORDERS_API_PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8')
      const found = /(http:\/\/\S+)\n/.exec(output)?.[1]
      if (found) resolve(found)
    })
    void ended.then(([code]) => reject(new Error(`the orders API ended with ${code}`)))
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
