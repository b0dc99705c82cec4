// The library tells providers its version; that constant must be the released one. Changesets must be valid.
import { readSteps } from './lib/changesets.mjs'
import { readJson, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { constantFile, currentVersion, isInChangelog } from './lib/versions.mjs'

const found = /\bversion\b[^=]*=\s*'([^']+)'/.exec(readText(constantFile))?.[1]
const version = currentVersion()
const problems = []
if (found !== version)
  problems.push(
    `${constantFile}:1 says ${found ?? 'nothing'}, packages/idp-client/package.json says ${version}`,
  )
const provider = readJson('packages/dev-provider/package.json').version
if (provider !== version)
  problems.push(`packages/dev-provider/package.json says ${provider}: both packages are released together`)
if (!isInChangelog('Unreleased')) problems.push('CHANGELOG.md:1 has no section Unreleased')
try {
  readSteps()
} catch (error) {
  problems.push(error.message)
}
finish(problems, `version ${version}`)
