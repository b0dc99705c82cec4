// The guides print, byte for byte, what ran last for this version of the packages (`npm run test:guides`).
import { finish } from './lib/gate.mjs'
import { findStale, guides, hashBlocks, readGuide, readResult } from './lib/guides.mjs'
import { isMain } from './lib/run.mjs'
import { currentVersion } from './lib/versions.mjs'

if (isMain(import.meta)) {
  const names = Object.keys(guides)
  const problems = names.flatMap((name) => {
    const stale = findStale(readResult(name), hashBlocks(readGuide(name)), currentVersion())
    return stale === null ? [] : [`${name}: ${stale}; run npm run test:guides -- ${name}`]
  })
  finish(problems, `${names.length} guides`)
}
