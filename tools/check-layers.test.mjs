import { expect, test } from 'vitest'
import { circularLayers, findImports, violations } from './check-layers.mjs'
import { filesBelow, readJson, readText } from './lib/files.mjs'

test('imports of every form are found, types are distinguished from values', () => {
  const text = [
    "import type { A } from './a.ts'",
    "import { b,\n  type C } from './b.ts'",
    "import * as d from 'd'",
    "import './e.ts'",
    "export type { F } from './f.ts'",
    "export * from './g.ts'",
    "const later = () => import('./h.ts')",
    "type I = typeof import('./i.ts')",
    "// import './no.ts'",
    "const text = `import './no.ts'`",
    "export const from = 'not an import'",
  ].join('\n')
  expect(
    findImports('module.ts', text).map(({ line, specifier, typeOnly }) => [line, specifier, typeOnly]),
  ).toEqual([
    [1, './a.ts', true],
    [3, './b.ts', false],
    [4, 'd', false],
    [5, './e.ts', false],
    [6, './f.ts', true],
    [7, './g.ts', false],
    [8, './h.ts', false],
    [9, './i.ts', true],
  ])
})

test.each([
  ['errors/base.ts', "import { x } from '../config/env.ts'", 'errors may not import config/env.ts'],
  ['flows/login.ts', "import { x } from './logout.ts'", 'imports its sibling flows/logout.ts'],
  ['flows/login.ts', "import { x } from '../engine.ts'", 'only by "import type"'],
  ['config/session.ts', "import { x } from '../session/model/session.ts'", 'only by "import type"'],
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
  ['cli/run.ts', 'const load = (name) => import(name)', 'that an expression names'],
  ['adapters/express/client.ts', "import { x } from 'express'", 'may not import express'],
  ['http/chunks.ts', "import { parse } from 'cookie-es'", 'may not import cookie-es'],
  ['session/model/session.ts', "import { jwtVerify } from 'jose'", 'may not import jose'],
  ['lib/request-scope.ts', "import { x } from 'left-pad'", 'not a dependency of the library'],
  ['crypto/seal.ts', "import { x } from 'node:crypto'", 'may not import node:crypto'],
  ['oidc/grants.ts', "import { x } from '../errors/index.ts'", 'imports the barrel'],
  ['adapters/next/client.ts', "import type { x } from '../../public.ts'", 'imports the barrel'],
  ['oidc/index.ts', 'export const x = 1', 'is a barrel'],
  ['oidc/grants.ts', "import { x } from '../../../dev-provider/src/clock.ts'", 'leaves the source folder'],
  ['magic/spell.ts', "import { x } from '../lib/request-scope.ts'", 'lies in no known layer'],
])('%s: %s', (path, text, message) => {
  expect(violations(path, text)).toEqual([expect.stringContaining(message)])
})

test.each([
  ['cli/doctor/setup.ts', 'const load = (name) => import(name)'],
  ['flows/login.ts', "import type { Engine } from '../engine.ts'"],
  ['config/session.ts', "import type { SessionData } from '../session/model/session.ts'"],
  ['adapters/express/client.ts', "import type { Request } from 'express'"],
  ['adapters/next/client.ts', "import { cookies } from 'next/headers.js'"],
  ['adapters/next/index.ts', 'export const x = 1'],
])('allows %s: %s', (path, text) => {
  expect(violations(path, text)).toEqual([])
})

test('a cycle of folders is found, whether by values or by types', () => {
  const rules = {
    lib: { values: [] },
    config: { values: ['lib'], types: ['session'] },
    session: { values: ['lib', 'config/options.ts'] },
    routes: { values: ['lib'] },
  }
  expect(circularLayers(rules)).toEqual(['config', 'session'])
  expect(circularLayers({ ...rules, config: { values: ['lib'] } })).toEqual([])
})

// npm resolves optional peers and their own peers, too: one that nothing imports can only make an installation fail.
test('the dependencies of the package are those that its modules import or augment', () => {
  const folder = 'packages/idp-client'
  const { dependencies, peerDependencies } = readJson(`${folder}/package.json`)
  const modules = filesBelow(`${folder}/src`, (name) => /(?<!\.test)\.tsx?$/.test(name))
  const specifiers = modules.flatMap((file) => {
    const text = readText(file)
    const augmented = [...text.matchAll(/^declare module '([^']+)'/gm)].map(([, name]) => name)
    return [...findImports(file, text).flatMap(({ specifier }) => specifier ?? []), ...augmented]
  })
  const packages = specifiers.filter((name) => !/^(?:[.#]|node:|cloudflare:|astro:|idp-client\b)/.test(name))
  const names = packages.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)[0])
  // SvelteKit bundles packages that have it as a peer. Only with the SvelteKit of the bundle are our redirects its own.
  names.push('svelte')
  expect([...new Set(names)].sort()).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).sort())
})
