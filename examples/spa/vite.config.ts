import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env.SERVER_URL ?? 'http://127.0.0.1:3000'

export default defineConfig({
  plugins: [react()],
  // The browser knows one origin only, that of Vite: what belongs to the server is sent on to it.
  server: { proxy: { '/auth/': server, '/api/': server } },
})
