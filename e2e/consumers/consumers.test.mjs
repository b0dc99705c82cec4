// The project `consumers` (npm test -- consumers, or node tools/test-project.mjs consumers [consumer... | --keep]): installs the packed
// packages outside the repository and uses them as applications do. The variable TARBALLS has others than those of this build,
// --keep leaves the installed folders.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { startDevProvider } from '../../packages/dev-provider/dist/index.js'
import { fromRoot, must } from '../../tools/lib/run.mjs'
import { pack, published } from '../../tools/pack.mjs'
import { allowAtOnce, selectNames, testApplication } from '../support/applications.mjs'
import { consumers } from './consumers.mjs'

const { KEEP, TARBALLS } = process.env
// Installations wait for the registry.
allowAtOnce(3)
const home = mkdtempSync(join(tmpdir(), 'idp-consumers-'))
let provider
let tarballs

beforeAll(async () => {
  provider = await startDevProvider({ https: true })
  tarballs = TARBALLS?.split(',') ?? (await Promise.all(published.map((folder) => pack(folder, home))))
})

afterAll(async () => {
  await provider?.stop()
  if (KEEP !== '1') rmSync(home, { recursive: true, force: true })
})

async function install(folder, { copies, devProvider, files = [] }) {
  mkdirSync(folder, { recursive: true })
  for (const source of copies) cpSync(fromRoot(`e2e/consumers/${source}`), folder, { recursive: true })
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const file = join(folder, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.dependencies = { ...manifest.dependencies, 'idp-client': `file:${tarballs[0]}` }
  if (devProvider) manifest.dependencies['idp-dev-provider'] = `file:${tarballs[1]}`
  writeFileSync(file, JSON.stringify(manifest, null, 2))
  await must('npm', ['install'], { cwd: folder })
}

for (const name of selectNames(Object.keys(consumers))) {
  const folder = join(home, name)
  const steps = consumers[name].steps.map(([title, work]) => [title, () => work({ folder, provider })])
  testApplication(name, [['installs', () => install(folder, consumers[name])], ...steps])
}
