import { parseEnv } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { resolveDpop } from '../config/dpop.ts'
import { resolveSecrets } from '../config/secrets.ts'
import { version } from '../lib/version.ts'
import { run } from './run.ts'

describe('secret', () => {
  test('[S047] prints one line of 64 hexadecimal digits, a different one each time', async () => {
    const outputs = await Promise.all(Array.from({ length: 20 }, () => run(['secret'])))
    for (const { code, stdout, stderr } of outputs) {
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^[0-9a-f]{64}\n$/)
    }
    expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(20)
  })

  test('prints a value that is accepted as secret', async () => {
    const note = vi.fn()
    const printed = (await run(['secret'])).stdout
    expect(resolveSecrets({ options: {}, env: { IDP_SECRET: printed }, addIssue: note })).toEqual([
      printed.trim(),
    ])
    expect(note).not.toHaveBeenCalled()
  })
})

describe('dpop-keys', () => {
  test('[S070] prints two lines for an environment file, a different valid pair each time', async () => {
    const { code, stdout, stderr } = await run(['dpop-keys'])
    expect([code, stderr]).toEqual([0, ''])
    const env = parseEnv(stdout)
    expect(Object.keys(env).sort()).toEqual(['IDP_DPOP_PRIVATE_KEY', 'IDP_DPOP_PUBLIC_KEY'])
    const note = vi.fn()
    expect(resolveDpop({ options: { useDPoP: true }, env, addIssue: note }).keys).toMatchObject({
      kind: 'pem',
    })
    expect(note).not.toHaveBeenCalled()
    expect((await run(['dpop-keys'])).stdout).not.toBe(stdout)
  })
})

test.each(['--help', '-h', 'help'])('%s prints the usage', async (parameter) => {
  const { code, stdout, stderr } = await run([parameter])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Usage: idp-client <command>/)
  expect(stdout).toContain('secret')
})

test.each([
  ['init', /^Usage: idp-client <command>/],
  ['codemod', /^Usage: idp-client <command>/],
  ['secret', /^Usage: idp-client <command>/],
  ['doctor', /^Usage: idp-client doctor \[options\]/],
])('%s --help prints the usage', async (command, usage) => {
  const { code, stdout, stderr } = await run([command, '--help'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(usage)
})

test.each(['--version', '-v'])('%s prints the version', async (parameter) => {
  expect(await run([parameter])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([[[]], [['secrets']], [['secret', 'more']], [['']], [['constructor']]])(
  '%j prints the usage with exit code 2',
  async (parameters) => {
    const { code, stdout, stderr } = await run(parameters)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Usage:/)
  },
)

describe('the command', () => {
  const { argv, exitCode } = process

  afterEach(() => {
    process.argv = argv
    process.exitCode = exitCode
    vi.restoreAllMocks()
  })

  test('passes arguments, output and exit code', async () => {
    const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    process.argv = ['node', 'idp-client', 'unknown']
    vi.resetModules()
    await import('./index.ts')
    const written = [stdout.mock.calls.flat(), stderr.mock.calls.flat(), process.exitCode]
    process.exitCode = exitCode
    expect(written).toEqual([[''], [expect.stringMatching(/^Usage:/)], 2])
  })
})
