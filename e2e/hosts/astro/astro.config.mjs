import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  // The provider posts to the auth routes from its own origin, or without one; checkOrigin() protects all others.
  security: { checkOrigin: false },
})
