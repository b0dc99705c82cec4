import { fileURLToPath } from 'node:url'
import config from '../example/playwright.config.ts'

const cwd = fileURLToPath(new URL('../example', import.meta.url))

export default { ...config, testDir: '.', webServer: { ...config.webServer, cwd } }
