import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { afterEach, expect, test, vi } from 'vitest'

const source = readFileSync(fileURLToPath(new URL('node-env.ts', import.meta.url)), 'utf8')

/** Returns the function as a bundler leaves it that puts this value in place of `process.env.NODE_ENV`. */
async function bundled(value: string): Promise<() => string | undefined> {
  const define = { 'process.env.NODE_ENV': JSON.stringify(value) }
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', define })
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  return module.readNodeEnv
}

afterEach(() => vi.unstubAllEnvs())

test.each([
  // By default esbuild inserts `development`, also for a server.
  ['development', 'production', 'production'],
  ['development', undefined, undefined],
  ['development', 'development', 'development'],
  ['production', undefined, 'production'],
  ['production', 'development', 'production'],
])(
  '[N2] a bundle into which NODE_ENV %j was inserted, run with %j, reads %j',
  async (inserted, actual, expected) => {
    const readNodeEnv = await bundled(inserted)
    vi.stubEnv('NODE_ENV', actual)
    expect(readNodeEnv()).toBe(expected)
  },
)
