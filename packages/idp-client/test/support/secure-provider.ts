import { request } from 'node:https'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'

/** A `fetch` that trusts one authority (PEM). */
export function fetchTrusting(ca: string | undefined): typeof globalThis.fetch {
  return async (input, init) => {
    const asked = new Request(input, init)
    const body = Buffer.from(await asked.arrayBuffer())
    return new Promise((resolve, reject) => {
      const options = { method: asked.method, headers: Object.fromEntries(asked.headers), ca }
      const sent = request(asked.url, options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const headers = new Headers()
          for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value))
          resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 0, headers }))
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
}

/** A provider over https, and the `fetch` that trusts its throw-away certificate. */
export async function startSecureProvider(): Promise<{
  provider: DevProvider
  fetch: typeof globalThis.fetch
}> {
  const provider = await startDevProvider({ host: '127.0.0.1', https: true })
  return { provider, fetch: fetchTrusting(provider.ca) }
}
