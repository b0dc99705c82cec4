import node from '@astrojs/node'
import { defineConfig } from 'astro/config'
import idp from 'idp-client/astro/integration'

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  integrations: [idp()],
})
