import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeChanges } from './write-changes.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idp-init-write-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const readMode = async (path: string): Promise<number> => (await stat(join(folder, path))).mode & 0o777
const change = { path: '.env', before: 'A=1\n', text: 'A=1\nIDP_SECRET=x\n', mode: 0o600 }

test.each([
  [0o644, 0o600],
  [0o400, 0o400],
])('a file with permissions %o that gets a secret has %o', async (before, after) => {
  await writeFile(join(folder, '.env'), change.before)
  await chmod(join(folder, '.env'), before)
  await writeChanges(folder, [change])
  expect([await readFile(join(folder, '.env'), 'utf8'), await readMode('.env')]).toEqual([change.text, after])
})

test('a file without secrets keeps its permissions', async () => {
  await writeFile(join(folder, 'run.sh'), '')
  await chmod(join(folder, 'run.sh'), 0o755)
  await writeChanges(folder, [{ path: 'run.sh', before: '', text: 'exit\n' }])
  expect(await readMode('run.sh')).toBe(0o755)
})

test('after a failure a file has its text and its permissions again', async () => {
  await writeFile(join(folder, '.env'), change.before)
  await chmod(join(folder, '.env'), 0o644)
  await mkdir(join(folder, 'taken'))
  const failing = writeChanges(folder, [change, { path: 'taken', before: null, text: '' }])
  await expect(failing).rejects.toThrow('taken cannot be written (EEXIST). Nothing was changed.')
  expect([await readFile(join(folder, '.env'), 'utf8'), await readMode('.env')]).toEqual([
    change.before,
    0o644,
  ])
})
