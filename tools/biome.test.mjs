import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin, fromRoot, runNode } from './lib/run.mjs'

// Each file breaks one rule of biome.json, in a folder of its own that has no other file of the repository.
const src = 'packages/idp-client/src'
const lines = (count) => Array.from({ length: count }, (_, index) => `  call(${index})\n`).join('')
const func = (count) => `export function long() {\n${lines(count)}}\n`

const planted = [
  ['noImportCycles', `${src}/lib/a.ts`, "import { b } from './b.ts'\nexport const a = () => b()\n"],
  ['noImportCycles', `${src}/lib/b.ts`, "import { a } from './a.ts'\nexport const b = () => a()\n"],
  ['noExcessiveLinesPerFile', `${src}/lib/file.ts`, `// one\n\n${lines(301)}`],
  ['noExcessiveLinesPerFile', `${src}/lib/file.test.ts`, lines(501)],
  ['noExcessiveLinesPerFile', `${src}/adapters/web/client.ts`, lines(71)],
  ['noExcessiveLinesPerFunction', 'tools/function.mjs', func(59)],
  [
    'noExcessiveLinesPerFunction',
    `${src}/lib/arrow.ts`,
    `export const long = async () => {\n${lines(59)}}\n`,
  ],
  ['Read it in config/env.ts', `${src}/http/member.ts`, 'export const mode = process.env.NODE_ENV\n'],
  ['Read it in config/env.ts', `${src}/http/destructured.ts`, 'export const { env } = process\n'],
  [
    'Read it in config/env.ts',
    `${src}/http/declared.ts`,
    'declare const process: { env: string }\nexport const p = process\n',
  ],
  ['noJsRestrictedProperties', `${src}/http/global.ts`, 'export const p = globalThis.process\n'],
  ['noJsRestrictedProperties', `${src}/oidc/now.ts`, 'export const now = Date.now()\n'],
  ['noJsRestrictedProperties', `${src}/oidc/destructured.ts`, 'export const { now } = Date\n'],
  ['noJsRestrictedProperties', `${src}/oidc/random.ts`, 'export const chance = Math.random()\n'],
  ['noJsRestrictedProperties', `${src}/oidc/url.ts`, "export const isUrl = URL.canParse('a')\n"],
  ['Take the clock as an argument', `${src}/oidc/date.ts`, 'export const date = new Date()\n'],
  ['Take the clock as an argument', `${src}/oidc/text.ts`, 'export const date = Date()\n'],
  ['noConsole', `${src}/engine.ts`, 'console.warn(1)\n'],
  ['noJsRestrictedProperties', `${src}/global-console.ts`, 'globalThis.console.warn(1)\n'],
  [
    'noRestrictedImports',
    'packages/dev-provider/src/client.ts',
    "import { IdpClient } from 'idp-client'\nnew IdpClient()\n",
  ],
  [
    'noRestrictedImports',
    'packages/dev-provider/src/source.ts',
    "import { seal } from '../../idp-client/src/crypto/seal.ts'\nseal()\n",
  ],
  ['sets the number of runs', `${src}/lib/property.test.ts`, "import fc from 'fast-check'\nfc.nat()\n"],
]

const allowed = {
  [`${src}/lib/types.ts`]:
    "import type { Type } from './uses-types.ts'\nexport const type = (value: Type) => value\n",
  [`${src}/lib/uses-types.ts`]:
    "import { type } from './types.ts'\nexport type Type = string\nexport const b = type('b')\n",
  [`${src}/lib/fits.ts`]: `${func(58)}${'// comment\n\n'.repeat(200)}${lines(240)}`,
  [`${src}/lib/fits.test.ts`]: `describe('long', () => {\n${lines(498)}})\n`,
  'packages/idp-client/test/support/fast-check.ts': "import fc from 'fast-check'\nfc.nat()\n",
  [`${src}/config/env.ts`]: 'export const mode = process.env.NODE_ENV\n',
  [`${src}/oidc/dates.ts`]: "// Date.now()\nexport const date = [new Date(1), 'Date.now()']\n",
}

/** The diagnostics of Biome, by file. */
const found = new Map()
let folder

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'idp-biome-')))
  for (const path of ['biome.json', 'tools/rules/process.grit', 'tools/rules/system-clock.grit'])
    plant(path, readFileSync(fromRoot(path)))
  for (const [, path, text] of planted) plant(path, text)
  for (const [path, text] of Object.entries(allowed)) plant(path, text)
  const options = ['--reporter=github', '--max-diagnostics=none', '--vcs-enabled=false']
  const { output } = await runNode([bin.biome, 'lint', ...options, '.'], { cwd: folder })
  for (const [diagnostic, file] of output.matchAll(/^::error title=.*?,file=(.+?),.*$/gm)) {
    const path = relative(folder, file)
    found.set(path, `${found.get(path) ?? ''}${diagnostic}\n`)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function plant(path, text) {
  mkdirSync(join(folder, dirname(path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

test.each(planted)('%s: %s', (diagnostic, path) => {
  expect(found.get(path)).toContain(diagnostic)
})

test.each(Object.keys(allowed))('%s is allowed', (path) => {
  expect(found.get(path)).toBeUndefined()
})
