// The library tells providers its version; that constant must be the released one.
import { readJson, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'

const manifest = readJson('packages/idp-client/package.json')
const file = 'packages/idp-client/src/lib/version.ts'
const found = /\bversion\b[^=]*=\s*'([^']+)'/.exec(readText(file))?.[1]
const released = manifest.version
const problems = []
if (found !== released)
  problems.push(`${file}:1 says ${found ?? 'nothing'}, packages/idp-client/package.json says ${released}`)
const provider = readJson('packages/dev-provider/package.json').version
if (provider !== released)
  problems.push(`packages/dev-provider/package.json says ${provider}: both packages are released together`)
if (
  !readText('CHANGELOG.md').includes('## [Unreleased]') &&
  !readText('CHANGELOG.md').includes(`## [${released}]`)
) {
  problems.push(`CHANGELOG.md:1 has no section for ${released}`)
}
finish(problems, `version ${released}`)
