// <runtime> certificate.mjs: logs in with a TLS certificate, and calls an API with the bound token, before and after a rotation. Prints the
// URL of the login, reads that of the callback, and prints the result. `CERTIFICATES` has what it needs, as JSON.
import process from 'node:process'
import { createInterface } from 'node:readline'
import { customFetch, IdpClient } from 'idp-client'

const { api, ca, identities, options } = JSON.parse(process.env.CERTIFICATES)
const { Bun, Deno } = globalThis

/** Returns a `fetch` that presents a certificate, as the guide writes it for each runtime. */
async function presenting({ cert, key }) {
  if (Bun) return (url, init) => fetch(url, { ...init, tls: { cert, key, ca } })
  if (Deno) {
    const client = Deno.createHttpClient({ cert, key, caCerts: [ca] })
    return (url, init) => fetch(url, { ...init, client })
  }
  const { Agent, fetch: fetchByAgent } = await import('undici')
  const dispatcher = new Agent({ connect: { cert, key, ca } })
  return (url, init) => fetchByAgent(url, { ...init, dispatcher })
}

const [first, second] = await Promise.all(identities.map(presenting))
let present = first

const client = new IdpClient({
  ...options,
  clientCertificate: true,
  certificateBoundAccessTokens: true,
  [customFetch]: (url, init) => present(url, init),
})

const cookies = new Map()

const toRequest = (path) =>
  new Request(new URL(path, options.appBaseUrl), {
    headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
  })

async function send(path) {
  const response = await client.middleware(toRequest(path))
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
    cookies.set(name, value)
  }
  return response
}

async function callApi() {
  const { fetchWithAuth } = await client.createFetcher({}, toRequest('/'))
  const response = await fetchWithAuth(api, { method: 'POST', body: 'the body' })
  return { status: response.status, ...(await response.json()) }
}

process.stdout.write(`${(await send('/auth/login')).headers.get('location')}\n`)
for await (const callback of createInterface({ input: process.stdin })) {
  const { status } = await send(callback)
  const before = await callApi()
  present = second
  const after = await callApi()
  const runtime = (Bun && 'bun') || (Deno && 'deno') || 'node'
  process.stdout.write(`${JSON.stringify({ runtime, status, before, after })}\n`)
  process.exit(0)
}
