import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { readApplication } from './application.ts'
import { fitToNext, toNextGuide } from './next.ts'

/** Creates the package of an installed Next.js, and an application in a workspace, whose range does not tell the version. */
async function createWorkspace(installed: string): Promise<string> {
  const root = await temporaryFolder()
  const files = {
    [`${installed}/package.json`]: { name: 'next', version: '15.5.4' },
    'apps/web/package.json': { dependencies: { next: 'catalog:' } },
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), JSON.stringify(content))
  }
  return root
}

const toGuide = async (root: string): Promise<string> =>
  toNextGuide(await readApplication(join(root, 'apps/web')))

test('the version is that which a workspace has installed in a folder above', async () => {
  expect(await toGuide(await createWorkspace('node_modules/next'))).toBe('next-15')
})

test('the version is that which a workspace has installed elsewhere, as a link', async () => {
  const store = 'node_modules/.pnpm/next@15.5.4/node_modules/next'
  const root = await createWorkspace(store)
  await mkdir(join(root, 'apps/web/node_modules'))
  await symlink(join(root, store), join(root, 'apps/web/node_modules/next'))
  expect(await toGuide(root)).toBe('next-15')
})

test.each([
  ['./*', 'src/app', './lib/idp'],
  ['./src/*', 'src/app', '@/lib/idp'],
  ['./src/*', 'app', './lib/idp'],
  ['./*', 'app', '@/lib/idp'],
  ['*', 'app', '@/lib/idp'],
])('with @/* as %s and pages in %s, the client is imported from %s', async (target, pages, from) => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, pages), { recursive: true })
  await writeFile(join(folder, 'package.json'), '{}')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { paths: { '@/*': [target] } } }, null, 2),
  )
  const file = { path: 'proxy.ts', text: "import { idp } from '@/lib/idp'\n", starter: [] }
  const [fitted] = await fitToNext([file], await readApplication(folder))
  expect(fitted?.text).toBe(`import { idp } from '${from}'\n`)
})
