// Looks at the packages as npm would publish them: publint, "are the types wrong", and what the tarballs contain.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { finish } from './lib/gate.mjs'
import { contentProblems, unpack } from './lib/package-content.mjs'
import { bin, runNode } from './lib/run.mjs'
import { pack, published } from './pack.mjs'
import { unpackedSizes } from './rules/entries.mjs'

/** The ways to find modules that packages of ES modules do not support. */
const UNSUPPORTED = ['node10', 'node16-cjs']

/** Returns where TypeScript finds other types than the code has, as "are the types wrong" tells. */
async function typeProblems(tarball) {
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(tarball)))
  const problems = analysis.types ? analysis.problems : []
  return problems
    .filter(({ resolutionKind }) => !UNSUPPORTED.includes(resolutionKind))
    .map((problem) => `types: ${JSON.stringify(problem)}`)
}

async function packageProblems(folder, temporary) {
  const tarball = await pack(folder, temporary)
  const unpacked = join(temporary, folder)
  await unpack(tarball, unpacked)
  const problems = contentProblems(unpacked, unpackedSizes[folder]).map((problem) => `${folder}: ${problem}`)
  const publint = await runNode([bin.publint, 'run', '--strict', unpacked])
  if (publint.code !== 0) problems.push(`publint ${folder}\n${publint.output}`)
  return [...problems, ...(await typeProblems(tarball)).map((problem) => `${folder}: ${problem}`)]
}

const temporary = mkdtempSync(join(tmpdir(), 'idp-check-'))
try {
  const problems = []
  for (const folder of published) problems.push(...(await packageProblems(folder, temporary)))
  finish(problems, `${published.length} packages`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
