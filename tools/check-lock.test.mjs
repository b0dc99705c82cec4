import { expect, test } from 'vitest'
import { lockProblems } from './check-lock.mjs'

const lock = (packages) => ({ lockfileVersion: 3, packages })
const whole = { version: '1.0.0', integrity: 'sha512-x' }

test('an optional package that the lock lacks is named', () => {
  const parent = { ...whole, optionalDependencies: { '@a/linux': '1.0.0', '@a/mac': '1.0.0' } }
  expect(lockProblems(lock({ 'node_modules/a': parent, 'node_modules/@a/linux': whole }))).toEqual([
    expect.stringContaining('@a/mac@1.0.0'),
  ])
})

test('a nested optional package is checked too', () => {
  const parent = { ...whole, optionalDependencies: { b: '1.0.0' } }
  expect(lockProblems(lock({ 'node_modules/a': parent, 'node_modules/a/node_modules/b': whole }))).toEqual([])
})

test('download addresses and missing hashes are rejected, workspace links are not', () => {
  const entry = { version: '1.0.0', resolved: 'https://packages.example/a.tgz' }
  expect(lockProblems(lock({ 'node_modules/a': entry }))).toEqual([
    expect.stringContaining('download address'),
    expect.stringContaining('integrity'),
  ])
  expect(
    lockProblems(lock({ 'node_modules/a': { resolved: 'packages/a', link: true }, 'packages/a': {} })),
  ).toEqual([])
})
