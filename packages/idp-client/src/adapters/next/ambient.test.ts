import { expect, test } from 'vitest'
import { readCookies } from './ambient.ts'

const host = (cookies: Readonly<Record<string, string>>) => ({
  getAll: () => Object.entries(cookies).map(([name, value]) => ({ name, value })),
})

test('a cookie that the proxy has written overrides the received one', () => {
  const received = readCookies('theme=dark; size=1', host({ theme: 'light', size: '1' }))
  expect([...received]).toEqual([
    ['theme', 'light'],
    ['size', '1'],
  ])
})

test('a written value overrides a received one that starts with it', () => {
  expect(readCookies('theme=darker', host({ theme: 'dark' })).get('theme')).toBe('dark')
  expect(readCookies('theme=dark', host({ theme: '' })).get('theme')).toBe('')
})

test('a written value overrides a received one although another cookie ends with the same pair', () => {
  expect(readCookies('a=0; xa=1', host({ a: '1', xa: '1' })).get('a')).toBe('1')
})

test('of an unchanged cookie every received value stays, as it was received', () => {
  const received = readCookies('s=own; s=a%3Ab', host({ s: 'a:b' }))
  expect(received.get('s')).toEqual(['own', 'a%3Ab'])
})
