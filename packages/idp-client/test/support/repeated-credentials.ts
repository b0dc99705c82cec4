import { deepStrictEqual } from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'

/** The part of a `ContractHost` that is used here. */
interface Host {
  readonly url: string
  readonly listensAt?: string
  accessToken(claims: { readonly sub: string; readonly aud: string }): Promise<string>
}

/** Sends two headers `Authorization`, which `fetch` would join. Returns the status, and the code or the user. */
async function send(host: Host, path: string, tokens: readonly string[]): Promise<unknown> {
  const sent = request((host.listensAt ?? host.url) + path)
  sent.setHeader(
    'authorization',
    tokens.map((token) => `Bearer ${token}`),
  )
  if (host.listensAt !== undefined) {
    const { host: authority, protocol } = new URL(host.url)
    sent.setHeader('x-forwarded-host', authority).setHeader('x-forwarded-proto', protocol.slice(0, -1))
  }
  const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
  const { code, sub } = (await json(response)) as Record<string, unknown>
  return [response.statusCode, code ?? sub]
}

/**
 * Returns a case of the adapter contract that needs `node:http`: two `Authorization` headers are refused. Some servers pass on only
 * the first one, so that the second does not exist for the guard: then the first alone decides.
 */
export function repeatedCredentials(hidesSecond: boolean): {
  readonly title: string
  run(host: Host): Promise<void>
} {
  return {
    title: `two Authorization headers ${hidesSecond ? 'count as the first one, because the server hides the second' : 'are refused'}`,
    async run(host) {
      const [good = '', bad = ''] = await Promise.all(
        ['https://api.example.test/', 'https://other.example.test/'].map((aud) =>
          host.accessToken({ sub: 'carol', aud }),
        ),
      )
      const refused = [400, 'INVALID_REQUEST']
      for (const path of ['/resource', '/shared']) {
        deepStrictEqual(await send(host, path, [good, bad]), hidesSecond ? [200, 'carol'] : refused)
        deepStrictEqual(await send(host, path, [bad, good]), hidesSecond ? [401, 'INVALID_TOKEN'] : refused)
      }
    },
  }
}
