import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { providers, starters } from '#starters'
import type { Command } from './index.ts'
import { createApp } from './index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'create-idp-app-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The output of `init` in these tests: its last line has the commands. */
const initOutput = 'Wrote:\n  server.mjs (new)\n\nStart it:\n\n  npm install && npm run dev:idp\n'

/** Runs the command with a system that records what it would start. */
async function create(
  args: readonly string[],
  options: {
    readonly choose?: (question: string, names: readonly string[]) => Promise<string>
    readonly fails?: RegExp
  } = {},
) {
  const commands: Command[] = []
  const printed = { stdout: '', stderr: '' }
  const code = await createApp(args, {
    folder,
    ...(options.choose ? { choose: options.choose } : {}),
    print: (text, stream) => {
      printed[stream] += text
    },
    run: async (command) => {
      commands.push(command)
      if (options.fails?.test(command.words.join(' '))) return { code: 3, output: 'No.\n' }
      return { code: 0, output: command.show ? '' : initOutput }
    },
  })
  const lines = commands.map(({ words, cwd }) => [
    cwd.slice(folder.length),
    words.slice(-1).join(),
    words.length,
  ])
  return { code, commands, lines, ...printed }
}

describe('a new application', () => {
  test('runs the starter, init and the installation, and names the one command', async () => {
    const { code, commands, stdout, stderr } = await create(['shop', '--host', 'next'])
    expect([code, stderr]).toEqual([0, ''])
    const [starter, init, install] = commands
    expect(starter).toMatchObject({
      words: ['npx create-next-app@latest shop --yes'],
      cwd: folder,
      shell: true,
      show: true,
    })
    expect(init?.cwd).toBe(join(folder, 'shop'))
    expect(init?.words.slice(2)).toEqual(['init', '--yes', '--force', '--host', 'next', '--provider', 'dev'])
    expect(install).toMatchObject({ words: ['npm install'], cwd: join(folder, 'shop'), show: true })
    expect(stdout).toMatch(/^\nWrote:\n[\s\S]*Start it:\n\n {2}cd shop && npm run dev:idp\n$/)
  })

  test.each(Object.keys(starters).filter((name) => starters[name]?.needsStarter === false))(
    '%s begins with an empty folder',
    async (name) => {
      const { code, lines } = await create(['--host', name, '--provider', 'keycloak', '--from', '.'])
      expect([code, lines.length]).toEqual([0, 2])
      expect(lines[0]).toEqual(['/my-app', '..', 11])
      expect(await readdir(folder)).toEqual(['my-app'])
    },
  )

  test('commands after cd run in the new folder, and nothing is installed for the whole machine', async () => {
    const { lines } = await create(['shop', '--host', 'elysia'])
    expect(lines.slice(0, 2)).toEqual([
      ['', 'mkdir shop', 1],
      ['/shop', 'bun init --yes', 1],
    ])
  })

  test('asks for the framework at a terminal', async () => {
    const choose = async (_question: string, names: readonly string[]): Promise<string> => names.at(1) ?? ''
    const { code, commands } = await create([], { choose })
    expect([code, commands[0]?.words]).toEqual([0, expect.arrayContaining(['--host', 'express'])])
  })
})

test.each(['--help', '-h'])('%s prints the options', async (option) => {
  const { code, commands, stdout } = await create([option])
  expect([code, stdout, commands]).toEqual([0, expect.stringContaining('--provider'), []])
  expect(await readdir(folder)).toEqual([])
})

describe('bad input', () => {
  test.each<readonly [readonly string[], RegExp]>([
    [[], /^Name the framework: --host <name>, one of: next, express, /],
    [['--host', 'rails'], /^--host rails is not known\. Use one of: next, /],
    [['--host', 'next', '--provider', 'myspace'], new RegExp(`Use one of: ${providers.join(', ')}\\.\n$`)],
    [['a', 'next'], /^Name one folder only\. .* npm create idp-app my-app -- --host next\n$/],
    [['../a', '--host', 'next'], /^"\.\.\/a" is no name of a package/],
    [['a;b', '--host', 'next'], /^"a;b" is no name of a package/],
    [['--unknown'], /^Unknown option '--unknown'\. Say --help for the options\.\n$/],
  ])('%j is an error of the arguments', async (args, message) => {
    const { code, commands, stdout, stderr } = await create(args)
    expect([code, stdout, stderr, commands]).toEqual([2, '', expect.stringMatching(message), []])
    expect(await readdir(folder)).toEqual([])
  })

  test('a folder with files is left alone', async () => {
    await mkdir(join(folder, 'shop'))
    await writeFile(join(folder, 'shop', 'notes.txt'), '')
    const { code, commands, stderr } = await create(['shop', '--host', 'next'])
    expect([code, stderr, commands]).toEqual([1, expect.stringMatching(/shop exists already\./), []])
  })

  test.each([/create-next-app/, / init /])('ends when %s fails', async (fails) => {
    const { code, stdout, stderr } = await create(['--host', 'next'], { fails })
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^No\.\n.*ended with exit code 3\.\n$/),
    ])
  })
})
