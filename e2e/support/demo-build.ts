import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { buildNext, copyApplication } from '../fixtures/support/next-application.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL that responds with the folder of the built example. */
    demoBuild: string
  }
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** Builds a copy of the example for production: `npm run demo`, which a test runs, writes to the folder of the example. */
async function build(): Promise<string> {
  // As deep as the example: its configuration names the root of the workspace by a relative path.
  const folder = path('../../.cache/demo')
  await copyApplication(path('../../examples/next'), folder)
  await buildNext(folder, 'turbopack')
  return folder
}

/** Serves the build to the processes of the test files: the first request starts it, and all get its result. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let built: Promise<string> | undefined
  const server: Server = createServer((_request, response) => {
    built ??= build()
    built.then(
      (folder) => response.end(folder),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no port')
  project.provide('demoBuild', `http://127.0.0.1:${address.port}`)
  return async () => {
    server.close()
    await once(server, 'close')
  }
}
