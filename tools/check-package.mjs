// Looks at the packages as npm would publish them: publint, "are the types wrong", and what the tarballs contain.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finish } from './lib/gate.mjs'
import { contentProblems, unpack } from './lib/package-content.mjs'
import { bin, runNode } from './lib/run.mjs'
import { pack, published } from './pack.mjs'
import { unpackedSizes } from './rules/entries.mjs'

async function packageProblems(folder, temporary) {
  const tarball = await pack(folder, temporary)
  const unpacked = join(temporary, folder)
  await unpack(tarball, unpacked)
  const problems = contentProblems(unpacked, unpackedSizes[folder]).map((problem) => `${folder}: ${problem}`)
  const publint = await runNode([bin.publint, 'run', '--strict', unpacked])
  if (publint.code !== 0) problems.push(`publint ${folder}\n${publint.output}`)
  const attw = await runNode([bin.attw, tarball, '--profile', 'esm-only', '--no-emoji', '--no-color'])
  if (attw.code !== 0) problems.push(`attw ${folder}\n${attw.output}`)
  return problems
}

const temporary = mkdtempSync(join(tmpdir(), 'idp-check-'))
try {
  const problems = []
  for (const folder of published) problems.push(...(await packageProblems(folder, temporary)))
  finish(problems, `${published.length} packages`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
