import { existsSync } from 'node:fs'

const places = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** The options with which Playwright starts the Chromium of this machine. */
export function chromiumOptions() {
  const executablePath = places.find((path) => path && existsSync(path))
  if (executablePath === undefined)
    throw new Error('No Chromium found: install the package chromium, or name the program in CHROMIUM_PATH.')
  return { executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--hide-scrollbars'] }
}
