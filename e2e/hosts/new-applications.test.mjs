import { expect, test } from 'vitest'
import { assertOnlyOwn } from './new-applications.mjs'

const own = ['idp-client@1.0.0', 'cookie-es@3.0.0', 'jose@6.0.0', 'oauth4webapi@3.0.0']
const before = new Set(['nuxt@4.0.0', 'cookie-es@2.0.0'])

test('a package may only add itself and its own dependencies to an application', () => {
  expect(() => assertOnlyOwn(before, new Set([...before, ...own]))).not.toThrow()
})

test.each([
  ['also installed: @nestjs/core@12.0.0', [...own, '@nestjs/core@12.0.0']],
  ['also installed: nuxt@3.0.0', [...own, 'nuxt@3.0.0']],
  ['not installed: jose', own.filter((each) => !each.startsWith('jose'))],
])('%s', (message, added) => {
  expect(() => assertOnlyOwn(before, new Set([...before, ...added]))).toThrow(message)
})
