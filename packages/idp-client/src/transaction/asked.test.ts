import { expect, test } from 'vitest'
import { askedFor } from './asked.ts'

test('the same parameters have the same name, however they were given', async () => {
  const asked = await askedFor({ max_age: '300', acr_values: 'a b', ui_locales: 'de' })
  expect(asked).toMatch(/^[\w-]{8}$/)
  expect(await askedFor({ acr_values: 'a b', max_age: 300, prompt: 'login', scope: null })).toBe(asked)
})

test('others have others', async () => {
  const names = await Promise.all(
    [
      { max_age: 1 },
      { acr_values: '1' },
      { organization: '1' },
      { scope: '1' },
      { max_age: 1, scope: '1' },
    ].map(askedFor),
  )
  expect(new Set(names).size).toBe(5)
})

test('nothing beyond the configuration has none', async () => {
  expect(await askedFor({ prompt: 'login', max_age: undefined, scope: null })).toBeUndefined()
})
