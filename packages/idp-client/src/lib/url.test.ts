import { expect, test } from 'vitest'
import { apiUrl } from '../config/fetcher.ts'
import { unusableReason } from '../oidc/metadata.ts'

// Calls after which Node.js 20 and 22 have optimized `URL.canParse` to a function that rejects a host with a letter of Latin-1.
const CALLS = 100_000

test('a fetcher accepts a host with a letter of Latin-1 after many calls', () => {
  const config = { allowInsecureRequests: false, base: null, bound: false }
  const hosts = new Set(
    Array.from({ length: CALLS }, () => apiUrl(config, 'https://münchen.example.com/orders').host),
  )
  expect([...hosts]).toEqual(['xn--mnchen-3ya.example.com'])
})

test('an endpoint may have a host with a letter of Latin-1 after many checks', () => {
  const reasons = new Set(
    Array.from({ length: CALLS }, () => unusableReason('https://münchen.example.com/token', false)),
  )
  expect([...reasons]).toEqual([null])
})
