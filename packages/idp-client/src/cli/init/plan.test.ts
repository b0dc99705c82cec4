import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { run } from '../run.ts'

const starters = new URL('../../../../../e2e/guides/starters/', import.meta.url)

test('the styles of a starter that the printed files leave out are named', async () => {
  const folder = await temporaryFolder()
  await cp(fileURLToPath(new URL('react-router', starters)), folder, { recursive: true })
  const { stdout } = await run(['init', '--yes'], { folder })
  for (const left of [
    'app/root.tsx is replaced, without ./app.css:',
    'vite.config.ts is replaced, without @tailwindcss/vite:',
  ])
    expect(stdout).toContain(left)
  expect(stdout.match(/is replaced, without/g)).toHaveLength(2)
})

test('a file that is replaced without losing any is not named', async () => {
  const folder = await temporaryFolder()
  await cp(fileURLToPath(new URL('hono', starters)), folder, { recursive: true })
  await writeFile(join(folder, '.gitignore'), '.env\n')
  const { stdout } = await run(['init', '--yes'], { folder })
  expect(stdout).not.toContain('is replaced, without')
})
