import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { run } from '../run.ts'

async function initNotes(name: string, dependency: string, config: string): Promise<string> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'package.json'), JSON.stringify({ dependencies: { [dependency]: '*' } }))
  await writeFile(join(folder, name), config)
  const { stdout } = await run(['init', '--yes'], { folder })
  return stdout
}

test.each([
  ['astro.config.mjs', 'astro', "export default defineConfig({\n  srcDir: './source',\n})\n", 'srcDir'],
  ['nuxt.config.ts', 'nuxt', "export default defineNuxtConfig({\n  srcDir: 'client/'\n})\n", 'srcDir'],
  [
    'react-router.config.ts',
    '@react-router/dev',
    'export default {\n  appDirectory: dir,\n}\n',
    'appDirectory',
  ],
])('%s that moves the sources is named', async (name, dependency, config, option) => {
  expect(await initNotes(name, dependency, config)).toContain(
    `${name} sets ${option}: move the new files to the folder that it names.`,
  )
})

test.each([
  ['astro.config.mjs', 'astro', 'export default defineConfig({})\n'],
  ['astro.config.mjs', 'astro', 'export default defineConfig({\n  srcDir: "./src/",\n})\n'],
  ['nuxt.config.ts', 'nuxt', "export default defineNuxtConfig({\n  srcDir: './',\n})\n"],
  ['nuxt.config.ts', 'nuxt', "export default defineNuxtConfig({\n  srcDir: '.',\n})\n"],
  ['nuxt.config.ts', 'nuxt', "export default defineNuxtConfig({\n  srcDir: 'app',\n})\n"],
])('%s that does not move them is no note', async (name, dependency, config) => {
  expect(await initNotes(name, dependency, config)).not.toContain('move the new files')
})
