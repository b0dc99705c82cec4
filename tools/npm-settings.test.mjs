import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { must, run } from './lib/run.mjs'

let folder
let env

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idp-npm-'))
  const userconfig = join(folder, 'npmrc')
  writeFileSync(userconfig, 'yes=false\nsave=false\nomit[]=dev\n')
  env = { npm_config_cache: join(folder, 'cache'), npm_config_userconfig: userconfig }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('[Q0] npx installs what it has not cached, whatever the configuration of the user says', async () => {
  const { code, output } = await run('npx', ['semver@7.7.3', '1.2.3'], { cwd: folder, env })
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('1.2.3') })
})

test('[Q0] npm installs and saves development dependencies, whatever the configuration of the user says', async () => {
  await must('npm', ['install', '--save-dev', 'semver@7.7.3'], { cwd: folder, env })
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect(manifest.devDependencies).toEqual({ semver: expect.any(String) })
  expect(existsSync(join(folder, 'node_modules/semver'))).toBe(true)
})
