// npm run build && node tools/pack.mjs <target folder>: makes the tarballs that are published.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readJson } from './lib/files.mjs'
import { fromRoot, isMain, must } from './lib/run.mjs'

/** Folders of the packages that are published, always together. */
export const published = ['packages/idp-client', 'packages/dev-provider', 'packages/create-idp-app']

/**
 * Lays out what a package publishes: its build, the licence and changelog of the repository, and a
 * manifest without what only this workspace needs.
 *
 * @returns {string} the folder
 */
function stage(folder, parent) {
  if (!existsSync(fromRoot(`${folder}/dist`)))
    throw new Error(`pack: ${folder}/dist does not exist: run npm run build`)
  const {
    scripts: _scripts,
    devDependencies: _devDependencies,
    ...manifest
  } = readJson(`${folder}/package.json`)
  const target = join(parent, manifest.name)
  mkdirSync(target, { recursive: true })
  cpSync(fromRoot(`${folder}/dist`), join(target, 'dist'), { recursive: true })
  for (const file of ['LICENSE', 'CHANGELOG.md']) cpSync(fromRoot(file), join(target, file))
  const readme = existsSync(fromRoot(`${folder}/README.md`)) ? `${folder}/README.md` : 'README.md'
  if (existsSync(fromRoot(readme))) cpSync(fromRoot(readme), join(target, 'README.md'))
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return target
}

/**
 * Packs a package as npm would publish it.
 *
 * @returns {Promise<string>} path of the tarball in the target folder
 */
export async function pack(folder, target) {
  const staging = mkdtempSync(join(tmpdir(), 'idp-pack-'))
  try {
    const staged = stage(folder, staging)
    mkdirSync(target, { recursive: true })
    const output = await must('npm', ['pack', '--silent', '--pack-destination', target], { cwd: staged })
    const name = output.split('\n').find((line) => line.trim().endsWith('.tgz'))
    return join(target, name.trim())
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

if (isMain(import.meta)) {
  const target = resolve(process.argv[2] ?? '.')
  for (const folder of published) console.log(await pack(folder, target))
}
