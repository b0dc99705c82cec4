import { describe, expect, test } from 'vitest'
import { violations } from './check-layers.mjs'
import { importsOf } from './lib/imports.mjs'

const src = 'packages/idp-client/src/'
const module = (path, text) => ({ path: src + path, text, imports: importsOf(text) })

describe('imports of a module', () => {
  test('finds every form and tells types from values', () => {
    const text = [
      "import type { A } from './a.ts'",
      "import { b,\n  type C } from './b.ts'",
      "import * as d from 'd'",
      "import './e.ts'",
      "export type { F } from './f.ts'",
      "export * from './g.ts'",
      "const later = () => import('./h.ts')",
      "// import './no.ts'",
      "const text = `import './no.ts'`",
      "export const from = 'not an import'",
    ].join('\n')
    expect(importsOf(text).map(({ specifier, typeOnly }) => [specifier, typeOnly])).toEqual([
      ['./a.ts', true],
      ['./b.ts', false],
      ['d', false],
      ['./e.ts', false],
      ['./f.ts', true],
      ['./g.ts', false],
      ['./h.ts', false],
    ])
    expect(importsOf(text).map(({ line }) => line)).toEqual([1, 3, 4, 5, 6, 7, 8])
  })
})

describe('layer rules', () => {
  test.each([
    ['errors/base.ts', "import { x } from '../config/env.ts'", 'errors may not import config/env.ts'],
    ['flows/login.ts', "import { x } from './callback.ts'", 'imports its sibling flows/callback.ts'],
    ['flows/login.ts', "import { x } from '../engine.ts'", 'only by "import type"'],
    ['config/session.ts', "import { x } from '../session/session.ts'", 'only by "import type"'],
    [
      'react/use-user.ts',
      "import { x } from '../http/cookie-jar.ts'",
      'react may not import http/cookie-jar.ts',
    ],
    [
      'adapters/express/client.ts',
      "import { x } from '../next/client.ts'",
      'may not import adapters/next/client.ts',
    ],
    ['http/chunks.ts', "import { parse } from 'cookie'", 'may not import cookie'],
    ['session/session.ts', "import { jwtVerify } from 'jose'", 'may not import jose'],
    ['lib/lazy.ts', "import { x } from 'left-pad'", 'no dependency of the library'],
    ['crypto/seal.ts', "import { x } from 'node:crypto'", 'may not import node:crypto'],
    ['oidc/grants.ts', "import { x } from '../errors/index.ts'", 'imports the barrel'],
    ['oidc/grants.ts', 'const now = Date.now()', 'uses the system clock'],
    ['http/responses.ts', 'const mode = process.env.NODE_ENV', 'uses process'],
    ['engine.ts', 'console.warn(1)', 'uses console'],
    ['magic/spell.ts', "import { x } from '../lib/lazy.ts'", 'lies in no known layer'],
  ])('%s: %s', (path, text, message) => {
    expect(violations([module(path, text)])).toEqual([expect.stringContaining(message)])
  })

  test.each([
    ['flows/login.ts', "import type { Engine } from '../engine.ts'"],
    ['config/session.ts', "import type { SessionData } from '../session/session.ts'"],
    ['adapters/express/client.ts', "import type { Request } from 'express'"],
    ['adapters/next/client.ts', "import { cookies } from 'next/headers.js'"],
    ['config/env.ts', 'const mode = process.env.NODE_ENV'],
    ['lib/lazy.ts', "// Date.now() and console.log are banned\nconst text = 'Date.now()'"],
    ['oidc/clock.ts', 'const date = new Date(seconds * 1000)'],
  ])('allows %s: %s', (path, text) => {
    expect(violations([module(path, text)])).toEqual([])
  })

  test('finds a value cycle and leaves a type cycle alone', () => {
    const cycle = [
      module('lib/a.ts', "import { b } from './b.ts'"),
      module('lib/b.ts', "import { c } from './c.ts'"),
      module('lib/c.ts', "import { a } from './a.ts'"),
    ]
    expect(violations(cycle)).toEqual([
      `value cycle: ${src}lib/a.ts -> ${src}lib/b.ts -> ${src}lib/c.ts -> ${src}lib/a.ts`,
    ])
    const types = [cycle[0], module('lib/b.ts', "import type { A } from './a.ts'")]
    expect(violations(types)).toEqual([])
  })

  test('an exception counts only while it is needed', () => {
    const wrong = module('errors/base.ts', "import { x } from '../config/env.ts'")
    const exception = { from: 'errors/base.ts', to: 'config/env.ts', reason: 'for the test' }
    expect(violations([wrong], [exception])).toEqual([])
    expect(violations([], [exception])).toEqual([expect.stringContaining('not needed any more')])
  })
})
