import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { run } from '../run.ts'

const manifest = JSON.stringify({ dependencies: { nuxt: '4.4.5' } })

/** Runs `init` in an application with these files, and returns its folder and output. */
async function init(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder()
  for (const [path, text] of Object.entries({ 'package.json': manifest, ...files })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return { folder, ...(await run(['init', '--yes'], { folder })) }
}

const own = '<template><NuxtPage /></template>\n'

test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  ['pages in the root folder', { 'pages/index.vue': own }, []],
  ['a component in the root folder', { 'app.vue': own }, []],
  ['options of the router', { 'pages/index.vue': own, 'app/router.options.ts': '' }, ['router.options.ts']],
])('%s are not hidden by a folder app', async (_case, files, inApp) => {
  const { code, folder, stdout } = await init(files)
  expect(code).toBe(0)
  expect(await readdir(join(folder, 'app')).catch(() => [])).toEqual(inApp)
  expect(await readdir(join(folder, 'pages'))).toContain('account.vue')
  expect(await readdir(join(folder, 'server/api'))).toContain('me.get.ts')
  const [path = ''] = Object.keys(files)
  expect(await readFile(join(folder, path), 'utf8')).toBe(own)
  expect(stdout).toContain(`${path} has other content`)
})

test.each<[string, Readonly<Record<string, string>>]>([
  ['pages in app', { 'app/pages/orders.vue': own, 'plugins/old.ts': '' }],
  ['no pages yet', { 'server/api/orders.ts': '' }],
])('with %s its pages are in app', async (_case, files) => {
  const { folder } = await init(files)
  expect(await readdir(join(folder, 'app/pages'))).toContain('account.vue')
})
