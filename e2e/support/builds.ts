import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { TestProject } from 'vitest/node'
import { fingerprint } from '../../tools/lib/last-pass.mjs'
import { buildNext, copyApplication } from '../fixtures/support/next-application.ts'
import { fromRoot } from './walkthrough.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that responds to `/<name>` with the folder of a build. */
    builds: string
  }
}

interface Application {
  readonly source: string
  readonly bundler: 'turbopack' | 'webpack'
  readonly variables?: Readonly<Record<string, string>>
  readonly change?: (folder: string) => Promise<void>
}

const source = 'e2e/fixtures/next16'

/** The applications that test files share, each built for production with no variable of ours, one of them by webpack. */
const applications = {
  demo: { source: 'examples/next', bundler: 'turbopack', change: omitBuildCache },
  'next16-cached': { source, bundler: 'turbopack', variables: { FIXTURE_CACHE_COMPONENTS: '1' } },
  'next16-plain': { source, bundler: 'turbopack' },
  'next16-edge': { source, bundler: 'webpack', change: moveToEdge },
} as const satisfies Record<string, Application>

export type BuildName = keyof typeof applications

/** In place of the proxy a middleware, which runs on the edge runtime. */
async function moveToEdge(folder: string): Promise<void> {
  const middleware = `${folder}/middleware.ts`
  await rename(`${folder}/proxy.ts`, middleware)
  const text = readFileSync(middleware, 'utf8')
  writeFileSync(middleware, text.replace('export function proxy(', 'export function middleware('))
}

/** Nothing builds the copy again, and writing a cache for that takes a third of a build. */
async function omitBuildCache(folder: string): Promise<void> {
  const file = `${folder}/next.config.ts`
  const option = 'experimental: { turbopackFileSystemCacheForBuild: false },'
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('const config: NextConfig = {', `$&\n  ${option}`))
}

/** Builds an application in a copy of its folder, unless it was built of the same files. */
async function build(name: string): Promise<string> {
  const application: Application = applications[name as BuildName]
  // As deep as the example: its configuration names the root of the workspace by a relative path.
  const folder = fromRoot(`.cache/${name}`)
  const record = `${folder}/built`
  const files = fingerprint([application.source, 'e2e/support', 'e2e/fixtures/support'])
  if (existsSync(record) && readFileSync(record, 'utf8') === files) return folder
  await copyApplication(fromRoot(application.source), folder)
  await application.change?.(folder)
  await buildNext(folder, application.bundler, application.variables)
  writeFileSync(record, files)
  return folder
}

/** Serves the builds to the processes of the test files: the first request starts one, and all get its result. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const builds = new Map<string, Promise<string>>()
  const server: Server = createServer(({ url = '/' }, response) => {
    const name = url.slice(1)
    const built = builds.get(name) ?? build(name)
    builds.set(name, built)
    built.then(
      (folder) => response.end(folder),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  project.provide('builds', `http://127.0.0.1:${address.port}`)
  return async () => {
    server.close()
    await once(server, 'close')
  }
}
