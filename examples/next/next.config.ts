import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

const config: NextConfig = {
  cacheComponents: true,
  partialPrefetching: true,
  // The lock file and the library live two folders up, in the workspace root.
  outputFileTracingRoot: fileURLToPath(new URL('../../', import.meta.url)),
  devIndicators: false,
  poweredByHeader: false,
  reactStrictMode: true,
}

export default config
