// Forked: logs in as often as a message says, and sends the microseconds of one login, without the part of the provider.
import { createNextClient, createNextjsAuth0 } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'

const provider = createProvider()
globalThis.fetch = provider.fetch
const { login } = { 'idp-client': createNextClient, 'nextjs-auth0': createNextjsAuth0 }[process.argv[2]]()

const spent = () => performance.now() - provider.spent()

process.on('message', async (count) => {
  const before = spent()
  for (let done = 0; done < count; done++) await login(provider)
  process.send(((spent() - before) / count) * 1000)
})
