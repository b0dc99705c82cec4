import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'
import { generatedModules } from './tools/lib/init-data.mjs'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
const source = (file: string): string => path(`./packages/idp-client/src/${file}`)

// Unit and flow tests run the sources; only e2e runs what is shipped.
const alias = [
  { find: '#cipher', replacement: source('crypto/cipher.node.ts') },
  { find: '#async-context', replacement: source('lib/async-context.node.ts') },
  { find: /^idp-client$/, replacement: source('index.ts') },
  { find: /^idp-client\/(next|express)$/, replacement: source('adapters/$1/index.ts') },
  { find: /^idp-client\/(browser|react|errors|take-over|testing)$/, replacement: source('$1/index.ts') },
  { find: /^idp-client\/stores\/(memory|redis|postgres)$/, replacement: source('stores/$1.ts') },
  // Frameworks are installed with their examples only (`npm run test:hosts`), where the real package is tested.
  { find: '@sveltejs/kit', replacement: path('./packages/idp-client/test/support/sveltekit.ts') },
  { find: 'astro:actions', replacement: path('./packages/idp-client/test/support/astro-actions.ts') },
  { find: '#imports', replacement: path('./packages/idp-client/test/support/nuxt-imports.ts') },
  { find: /^idp-dev-provider$/, replacement: path('./packages/dev-provider/src/index.ts') },
]

// Time limits only end a test that hangs; no test asserts how long something took.
const hangGuard = { testTimeout: 120_000, hookTimeout: 120_000, teardownTimeout: 20_000 }

/** Files of a worker share its process: to load the packages for each again would take a third of the time. */
const oneProcess = {
  isolate: false,
  setupFiles: [path('./packages/idp-client/test/support/fresh-registry.ts')],
}

/** Files that take longer than others of their size, the longest first. That of the load test mostly waits. */
const LONG = [
  'e2e/next16',
  'e2e/quick-start',
  'e2e/browser',
  'e2e/soak',
  'test/flows/memory',
  'test/flows/faults',
  'test/adapters/express',
  'test/adapters/web',
]

/** Starts the long files first, or a part would end with one of them and idle cores. A fresh clone has no times of earlier runs. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isFile = (name: string, file: TestSpecification): boolean =>
      file.moduleId.endsWith(`/${name}.test.ts`)
    const long = LONG.flatMap((name) => sorted.filter((file) => isFile(name, file)))
    return [...long, ...sorted.filter((file) => !long.includes(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongFilesFirst },
    // One file more than cores, since tests also wait for servers and browsers. The default leaves one core idle.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        resolve: { alias },
        plugins: [generatedModules()],
        test: {
          name: 'unit',
          include: ['packages/idp-client/src/**/*.test.{ts,tsx}', 'packages/create-idp-app/src/**/*.test.ts'],
          ...oneProcess,
          ...hangGuard,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'flows',
          include: ['packages/idp-client/test/**/*.test.{ts,tsx}'],
          ...oneProcess,
          ...hangGuard,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'dev-provider',
          include: ['packages/dev-provider/{src,test}/**/*.test.ts'],
          ...oneProcess,
          ...hangGuard,
        },
      },
      {
        test: {
          name: 'tools',
          include: ['tools/**/*.test.mjs'],
          isolate: false,
          ...hangGuard,
        },
      },
      // They install and build applications, all but two of which wait.
      ...['consumers', 'migration', 'hosts', 'guides'].map((name) => ({
        test: {
          name,
          include: [`e2e/${name}/*.test.mjs`],
          maxConcurrency: 1000,
          testTimeout: 3_600_000,
          hookTimeout: 36_000_000,
        },
      })),
      {
        // The load test on distributed databases, a command of its own: npm run soak -- cluster.
        test: { name: 'soak', include: ['e2e/soak/*.test.ts'], testTimeout: 3_600_000, hookTimeout: 600_000 },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/*.test.ts'],
          // To load Playwright and the provider for each file again would take two seconds of CPU time.
          isolate: false,
          globalSetup: 'e2e/support/builds.ts',
          // Twenty times what the longest test takes: two builds and a development server.
          testTimeout: 600_000,
          hookTimeout: 600_000,
          teardownTimeout: 60_000,
        },
      },
    ],
  },
})
