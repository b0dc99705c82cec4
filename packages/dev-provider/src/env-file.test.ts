import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mergeVariables, writeEnvFile } from './env-file.ts'

const variables = { IDP_DOMAIN: 'http://localhost:4400', IDP_SECRET: '$& new' }

describe('the text of a dotenv file', () => {
  test.each([
    ['an empty file', '', 'IDP_DOMAIN=http://localhost:4400\nIDP_SECRET=$& new\n'],
    [
      'lines of others, before and after ours',
      '# mine\nA=1\n\nIDP_SECRET=old\nB="2"\n',
      '# mine\nA=1\n\nIDP_SECRET=$& new\nB="2"\nIDP_DOMAIN=http://localhost:4400\n',
    ],
    ['no newline at the end', 'A=1', 'A=1\nIDP_DOMAIN=http://localhost:4400\nIDP_SECRET=$& new\n'],
    [
      'repeated, exported and indented assignments',
      'export IDP_DOMAIN = a\n  IDP_SECRET=b\nIDP_DOMAIN=c\n',
      'IDP_DOMAIN=http://localhost:4400\nIDP_SECRET=$& new\n',
    ],
    [
      'similar names and comments',
      'MY_IDP_SECRET=a\nIDP_SECRET_2=b\n#IDP_SECRET=c\n',
      'MY_IDP_SECRET=a\nIDP_SECRET_2=b\n#IDP_SECRET=c\nIDP_DOMAIN=http://localhost:4400\nIDP_SECRET=$& new\n',
    ],
    [
      'values of several lines',
      'KEY="a\nIDP_SECRET=inside\nb"\nIDP_SECRET=\'old\nold\' # note\nQUOTE=it"s\n',
      'KEY="a\nIDP_SECRET=inside\nb"\nIDP_SECRET=$& new\nQUOTE=it"s\nIDP_DOMAIN=http://localhost:4400\n',
    ],
    [
      'empty values',
      'IDP_SECRET=\nA=1\nIDP_DOMAIN=',
      'IDP_SECRET=$& new\nA=1\nIDP_DOMAIN=http://localhost:4400\n',
    ],
    [
      'Windows newlines',
      'A=1\r\nIDP_DOMAIN=x\r\n',
      'A=1\r\nIDP_DOMAIN=http://localhost:4400\r\nIDP_SECRET=$& new\r\n',
    ],
  ])('[N9] with %s keeps every other line', (_case, before, after) => {
    expect(mergeVariables(before, variables)).toBe(after)
    expect(mergeVariables(after, variables)).toBe(after)
  })

  test('[N9] escapes the newlines of a value', () => {
    expect(mergeVariables('', { KEY: 'a\nb' })).toBe('KEY="a\\nb"\n')
  })
})

describe('the file', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idp-env-'))
    file = join(folder, '.env')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('[N9] is created for its owner only, and keeps the permissions that it has', async () => {
    await writeEnvFile(file, variables)
    expect(await readFile(file, 'utf8')).toBe(mergeVariables('', variables))
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await chmod(file, 0o644)
    await writeEnvFile(file, { IDP_DOMAIN: 'http://localhost:4401' })
    expect(await readFile(file, 'utf8')).toBe('IDP_DOMAIN=http://localhost:4401\nIDP_SECRET=$& new\n')
    expect((await stat(file)).mode & 0o777).toBe(0o644)
    expect(await readdir(folder)).toEqual(['.env'])
  })

  test('[N9] is replaced, so that a reader never sees a part of it', async () => {
    await writeFile(file, 'A=1\n')
    const before = await stat(file)
    await writeEnvFile(file, variables)
    expect((await stat(file)).ino).not.toBe(before.ino)
  })

  test.each([
    ['a folder', () => mkdir(file), /^--write: .*\.env is a folder\. Name a file/],
    ['a symbolic link', () => symlink('elsewhere', file), /^--write: .*\.env is a symbolic link/],
    ['a read-only file', () => writeFile(file, 'A=1', { mode: 0o444 }), /^--write: .*\.env is read-only/],
    [
      'a file in no folder',
      () => {
        file = join(folder, 'none', '.env')
      },
      /^--write: the folder .*none does not exist/,
    ],
    [
      'a file below a file',
      async () => {
        await writeFile(file, '')
        file = join(file, '.env')
      },
      /^--write: .* cannot be written \(ENOTDIR\)\./,
    ],
  ])('[N9] %s is rejected, and left as it was', async (_case, prepare, message) => {
    await prepare()
    const before = await readdir(folder)
    await expect(writeEnvFile(file, variables)).rejects.toThrow(message)
    expect(await readdir(folder)).toEqual(before)
  })
})
