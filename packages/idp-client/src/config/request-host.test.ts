import { expect, test } from 'vitest'
import type { RequestView } from '../http/exchange.ts'
import { toRequestPlace } from './request-host.ts'

function requestWith(headers: Record<string, string>): RequestView {
  const form = async () => new URLSearchParams()
  return { headers: new Headers(headers), method: 'GET', url: null, form, json: async () => ({}) }
}

const BASE = 'https://app.example.com:8443'

test.each<[string, Record<string, string>, string | undefined]>([
  ['another host', { host: 'preview.example.com:3000' }, 'preview.example.com'],
  ['that of the base URL on another port', { host: 'app.example.com' }, undefined],
  [
    'another host behind a proxy',
    { host: 'app.example.com', 'x-forwarded-host': 'www.example.com' },
    'www.example.com',
  ],
  ['a host that is not valid', { host: 'a b' }, undefined],
  ['no host', {}, undefined],
])('a request that names %s', (_what, headers, requestHost) => {
  const place = toRequestPlace(BASE, requestWith(headers))
  expect(place).toEqual({ host: 'app.example.com:8443', ...(requestHost ? { requestHost } : {}) })
})
