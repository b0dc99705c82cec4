import { readFileSync } from 'node:fs'
import { Agent, fetch } from 'undici'

/** Returns a `fetch` that presents a client certificate, of which the PEM files are given. */
export function certificateFetch({ certificate, key }) {
  const dispatcher = new Agent({ connect: { cert: readFileSync(certificate), key: readFileSync(key) } })
  return (input, init) => fetch(input, { ...init, dispatcher })
}
