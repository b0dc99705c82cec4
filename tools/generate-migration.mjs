// node tools/generate-migration.mjs: writes the diffs of examples/migration into the pages in docs/migration.
import { writeFileSync } from 'node:fs'
import { filesBelow, readText } from './lib/files.mjs'
import { withDiffs } from './lib/migration-diff.mjs'
import { fromRoot } from './lib/run.mjs'

for (const page of filesBelow('docs/migration', (path) => path.endsWith('.md'))) {
  const text = readText(page)
  const changed = withDiffs(text)
  if (changed === text) continue
  writeFileSync(fromRoot(page), changed)
  console.log(page)
}
