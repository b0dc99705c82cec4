// Looks at the packages as npm would publish them: publint and "are the types wrong".
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finish } from './lib/gate.mjs'
import { bin, runNode } from './lib/run.mjs'
import { pack, stage } from './pack.mjs'

const folders = ['packages/idp-client', 'packages/dev-provider']
const temporary = mkdtempSync(join(tmpdir(), 'idp-check-'))
const problems = []
try {
  for (const folder of folders) {
    const staged = stage(folder, temporary)
    const publint = await runNode([bin.publint, 'run', '--strict', staged])
    if (publint.code !== 0) problems.push(`publint ${folder}\n${publint.output}`)
    const tarball = await pack(folder, temporary)
    const attw = await runNode([bin.attw, tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'])
    if (attw.code !== 0) problems.push(`attw ${folder}\n${attw.output}`)
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
finish(problems, `${folders.length} packages`)
