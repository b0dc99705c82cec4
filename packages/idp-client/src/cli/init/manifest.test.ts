import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { readApplication } from './application.ts'
import { planManifest } from './plan.ts'

test('a package.json with a byte order mark is edited, and keeps it', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'package.json'), '\uFEFF{\n\t"name": "shop"\n}\n')
  const additions = { dependencies: { 'idp-client': '^1.0.0' }, devDependencies: {}, scripts: {} }
  const [change] = planManifest(await readApplication(folder), additions)
  expect(change?.text).toBe(
    '\uFEFF{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"idp-client": "^1.0.0"\n\t}\n}\n',
  )
})
