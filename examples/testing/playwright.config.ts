import { defineConfig } from '@playwright/test'

// For the tests and the application. Variables that are set already keep their values.
process.loadEnvFile('.env.test')
const baseURL = process.env.APP_BASE_URL

export default defineConfig({
  testDir: 'tests',
  // They share the application and its provider.
  workers: 1,
  use: { baseURL, launchOptions: { executablePath: process.env.CHROMIUM_PATH } },
  webServer: { command: 'node server.mjs', url: baseURL, env: { NODE_ENV: 'test' } },
})
