import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { expect, it } from 'vitest'

const MAIN = `
cipher.randomBytes(12)
const main = () => console.log(cipher.toBase64url(cipher.randomBytes(12)))
require('node:v8').startupSnapshot.setDeserializeMainFunction(main)
`

it('processes that start from one snapshot have different random values', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idp-client-snapshot-'))
  try {
    const source = readFileSync(join(import.meta.dirname, 'cipher.node.ts'), 'utf8')
    const [script, blob] = [join(folder, 'main.cjs'), join(folder, 'blob')]
    writeFileSync(
      script,
      transformSync(source, { loader: 'ts', format: 'iife', globalName: 'cipher' }).code + MAIN,
    )
    const run = (...more: readonly string[]): string =>
      execFileSync(process.execPath, ['--snapshot-blob', blob, ...more], { encoding: 'utf8', stdio: 'pipe' })
    run('--build-snapshot', script)
    const first = run()
    expect(first).toMatch(/^[\w-]{16}\n$/)
    expect(run()).not.toBe(first)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
