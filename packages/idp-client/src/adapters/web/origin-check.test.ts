import { describe, expect, test } from 'vitest'
import type { OriginCheckOptions } from './origin-check.ts'
import { rejectCrossOrigin } from './origin-check.ts'

const app = 'https://app.example'

function check(headers: Record<string, string>, method = 'POST', options: OriginCheckOptions = {}): unknown {
  return rejectCrossOrigin(new Request(`${app}/transfer`, { method, headers }), app, options)?.status ?? null
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('[F3] the check of form posts, where that of the framework is off for the provider', () => {
  test('rejects forms of other origins and without an origin', () => {
    for (const origin of ['https://evil.example', 'http://app.example', 'https://app.example:8443', 'null'])
      expect(check({ ...form, origin })).toBe(403)
    expect(check(form)).toBe(403)
  })

  test('rejects each content type that a page can send to another origin, in any spelling, or none', () => {
    const types = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'Text/Plain ;a=b']
    for (const type of types)
      expect(check({ 'content-type': type, origin: 'https://evil.example' })).toBe(403)
    expect(check({ origin: 'https://evil.example' })).toBe(403)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(check({ ...form, origin: 'https://evil.example' }, method)).toBe(403)
  })

  test('passes forms of the application and of trusted origins', () => {
    expect(check({ ...form, origin: app })).toBeNull()
    const pay = 'https://pay.example'
    expect(check({ ...form, origin: pay }, 'POST', { trustedOrigins: [pay] })).toBeNull()
    expect(check({ ...form, origin: `${pay}.evil.example` }, 'POST', { trustedOrigins: [pay] })).toBe(403)
  })

  test('passes what needs a preflight request, and what changes nothing', () => {
    expect(check({ 'content-type': 'application/json', origin: 'https://evil.example' })).toBeNull()
    expect(check({ ...form, origin: 'https://evil.example' }, 'GET')).toBeNull()
  })
})
