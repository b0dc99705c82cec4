import { expect, test } from 'vitest'
import { isCertificateBound } from './certificate-binding.ts'

const THUMBPRINT = 'A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0'

const encode = (value: object, encoding: 'base64' | 'base64url' = 'base64url'): string =>
  Buffer.from(JSON.stringify(value)).toString(encoding)

const jwt = (claims: object): string => `${encode({ alg: 'ES256' })}.${encode(claims)}.c2ln`

test.each<[string, string, boolean | undefined]>([
  ['a thumbprint', jwt({ cnf: { 'x5t#S256': THUMBPRINT } }), true],
  ['no confirmation', jwt({}), false],
  ['a key', jwt({ cnf: { jkt: THUMBPRINT } }), false],
  ['an empty thumbprint', jwt({ cnf: { 'x5t#S256': '' } }), false],
  ['a thumbprint of another length', jwt({ cnf: { 'x5t#S256': THUMBPRINT.slice(1) } }), false],
  ['a thumbprint in hexadecimal', jwt({ cnf: { 'x5t#S256': 'a4'.repeat(32) } }), false],
  ['a thumbprint with padding', jwt({ cnf: { 'x5t#S256': `${THUMBPRINT}=` } }), false],
  ['padding', `${encode({ alg: 'ES256' }, 'base64')}.${encode({ a: 1 }, 'base64')}.c2ln`, false],
  ['no form of a JWT', 'opaque', undefined],
  ['five parts', `${encode({ alg: 'dir' })}..a.b.c`, undefined],
])('%s', (_, token, expected) => {
  expect(isCertificateBound(token)).toBe(expected)
})
