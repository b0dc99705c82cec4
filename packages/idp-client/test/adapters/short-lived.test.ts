import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BundledProgram } from '../support/bundled-program.ts'
import { bundleProgram } from '../support/bundled-program.ts'

let program: BundledProgram
let left: Partial<Record<string, number>>

beforeAll(async () => {
  program = await bundleProgram('short-lived-process')
  const flags = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program.file])
  left = JSON.parse(stdout) as typeof left
})
afterAll(() => program.remove())

// A server that keeps its requests until a major collection copies them in every minor one before.
describe('a minor garbage collection frees requests with a session', () => {
  test.each(['Web', 'Next.js', 'SvelteKit', 'Astro', 'Node.js'])('%s', (host) => {
    // Each refers to 32 kB.
    expect(left[host]).toBeLessThan(16_000)
  })
})
