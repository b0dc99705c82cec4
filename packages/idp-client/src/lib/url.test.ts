import { expect, test } from 'vitest'
import { apiUrl } from '../config/fetcher.ts'
import { safeReturnPath } from '../http/return-path.ts'

// Node.js 20 and 22 optimize `URL.canParse` to a function that rejects a host with a letter of Latin-1.
const CALLS = 100_000

test('an API whose host has a letter of Latin-1 can be called however often', () => {
  const config = { allowInsecureRequests: false, base: null, bound: false }
  const hosts = new Set(
    Array.from({ length: CALLS }, () => apiUrl(config, 'https://münchen.example.com/orders').host),
  )
  expect([...hosts]).toEqual(['xn--mnchen-3ya.example.com'])
})

test('so can an application be returned to', () => {
  const paths = new Set(
    Array.from({ length: CALLS }, () => safeReturnPath('/page', 'https://münchen.example.com')),
  )
  expect([...paths]).toEqual(['/page'])
})
