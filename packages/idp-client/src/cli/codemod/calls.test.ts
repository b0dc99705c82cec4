import { expect, test } from 'vitest'
import { findCalls } from './calls.ts'

test('calls are found by their whole name, outside of comments and strings', () => {
  const text = "auth(a, b) // auth()\nx.auth(); 'auth()'; authed(); oidc.auth({ c })"
  expect(findCalls(text, 'auth').map(({ args }) => args)).toEqual([['a', 'b']])
  expect(findCalls(text, 'oidc.auth').map(({ args }) => args)).toEqual([['{ c }']])
})

test.each([
  'const a = { auth() { return 1 } }',
  'class A { async auth(): Promise<void> {} }',
  'interface A {\n  auth(): Promise<A>\n}',
  'function f() { function auth() {} }',
  "<p>Don't call auth() or auth() here</p>",
  '<code>auth()</code>',
])('%s has no call', (text) => {
  expect(findCalls(text, 'auth')).toEqual([])
})

test.each([
  'function f(auth) { return auth() }',
  'function F({ auth }: { auth: () => void }) { return <a onClick={() => auth()} /> }',
  'list.map((auth) => auth())',
  'list.map(auth => auth())',
  'function f() { const auth = g(); auth() }',
  'function f() { const { a, auth } = props; auth() }',
])('%s calls what it declares', (text) => {
  expect(findCalls(`import { auth } from 'a'\nauth()\n${text}`, 'auth')).toEqual([])
})

test.each([
  'f({ onLogin = () => auth() }) {',
  'c ? auth() : { a }',
  'c\n ? auth()\n : await auth()',
  'use(auth, () => { void auth() })',
  'if (auth) { auth() }',
  'export default auth()',
  "const { auth } = require('a')\nauth()",
  'f(<A auth={auth} />)\nauth()',
])('%s calls the imported function', (text) => {
  expect(findCalls(text, 'auth')).not.toEqual([])
})
