import node from '@astrojs/node'
import { defineConfig } from 'astro/config'
import idp from 'idp-client/astro/integration'

// The client of src/lib/idp.js has options; the integration mounts it.
export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  integrations: [idp()],
})
