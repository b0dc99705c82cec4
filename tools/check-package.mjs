// Looks at the packages as npm would publish them: publint, "are the types wrong", and what the tarballs contain.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { finish } from './lib/gate.mjs'
import { contentProblems, unpack } from './lib/package-content.mjs'
import { bin, isMain, runNode } from './lib/run.mjs'
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

/** Returns the problems of the tarball that a package of the repository was packed into. */
export async function packageProblems(folder, tarball) {
  const unpacked = `${tarball}-unpacked`
  try {
    await unpack(tarball, unpacked)
    const publint = await runNode([bin.publint, 'run', '--strict', unpacked])
    return [
      ...contentProblems(unpacked, unpackedSizes[folder]),
      ...(publint.code === 0 ? [] : [`publint\n${publint.output}`]),
      ...(await typeProblems(tarball)),
    ].map((problem) => `${folder}: ${problem}`)
  } finally {
    rmSync(unpacked, { recursive: true, force: true })
  }
}

if (isMain(import.meta)) {
  const temporary = mkdtempSync(join(tmpdir(), 'idp-check-'))
  try {
    const problems = []
    for (const folder of published)
      problems.push(...(await packageProblems(folder, await pack(folder, temporary))))
    finish(problems, `${published.length} packages`)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}
