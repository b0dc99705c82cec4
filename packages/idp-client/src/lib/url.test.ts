import { expect, test } from 'vitest'
import { apiUrl } from '../config/fetcher.ts'
import { unusableReason } from '../oidc/metadata.ts'

// Node.js 20 and 22 optimize `URL.canParse` to a function that rejects a host with a letter of Latin-1.
const CALLS = 100_000

test('an API whose host has a letter of Latin-1 can be called however often', () => {
  const config = { allowInsecureRequests: false, base: null, bound: false }
  const hosts = new Set(
    Array.from({ length: CALLS }, () => apiUrl(config, 'https://münchen.example.com/orders').host),
  )
  expect([...hosts]).toEqual(['xn--mnchen-3ya.example.com'])
})

test('so can such an endpoint be used', () => {
  const reasons = new Set(
    Array.from({ length: CALLS }, () => unusableReason('https://münchen.example.com/token', false)),
  )
  expect([...reasons]).toEqual([null])
})
