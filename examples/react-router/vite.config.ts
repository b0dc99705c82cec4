import { reactRouter } from '@react-router/dev/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  optimizeDeps: { exclude: ['idp-client/react-router'] },
  plugins: [reactRouter()],
})
