import { solidStart } from '@solidjs/start/config'
import { nitro } from 'nitro/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  optimizeDeps: { include: ['@jridgewell/trace-mapping'] },
  plugins: [solidStart(), nitro()],
})
