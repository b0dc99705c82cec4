import node from '@astrojs/node'
import { defineConfig } from 'astro/config'
import idp from 'idp-client/astro/integration'

// The client of src/lib/idp.js has options; the integration mounts it, below the base path without further configuration.
export default defineConfig({
  output: 'server',
  base: process.env.CONTRACT_BASE_PATH,
  adapter: node({ mode: 'standalone' }),
  integrations: [idp()],
})
