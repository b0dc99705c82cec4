import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { expect, onTestFinished, test } from 'vitest'
import { codes } from '../packages/idp-client/src/errors/codes.ts'
import { remedies } from '../packages/idp-client/src/errors/remedies.ts'
import { packages } from './lib/build-plan.mjs'
import { nodeSpecifiers } from './lib/declarations.mjs'
import { PackedApp } from './lib/packed-app.mjs'
import { fromRoot } from './lib/run.mjs'

test('relative specifiers of declarations end in .js, nothing else changes', () => {
  const text = [
    "export { IdpClient } from './client.ts';",
    "import type { A } from '../react/provider.tsx';",
    "import '../effects.ts';",
    'export declare const lazy: Promise<typeof import("./next.ts")>;',
    "export * from 'some-package/file.ts';",
    "export declare const name = './client.ts';",
  ].join('\n')
  expect(nodeSpecifiers(text).split('\n')).toEqual([
    "export { IdpClient } from './client.js';",
    "import type { A } from '../react/provider.js';",
    "import '../effects.js';",
    'export declare const lazy: Promise<typeof import("./next.js")>;',
    "export * from 'some-package/file.ts';",
    "export declare const name = './client.ts';",
  ])
})

/** The leftmost name of `A`, `A.B`. */
const firstName = (node) => (node?.left ? firstName(node.left) : node?.name)

/** Names of types and values that a declaration refers to. */
function namesIn(declaration) {
  const names = []
  new Visitor({
    TSTypeReference: ({ typeName }) => names.push(firstName(typeName)),
    TSTypeQuery: ({ exprName }) => names.push(firstName(exprName)),
    TSInterfaceHeritage: ({ expression }) => names.push(firstName(expression)),
    ClassDeclaration: ({ superClass }) => names.push(firstName(superClass)),
  }).visit({ type: 'Program', body: [declaration], sourceType: 'module', start: 0, end: 0 })
  return names.filter((name) => name !== undefined)
}

/** Declarations of bundled files by their name, each with its file, and the names that every file exports by itself. */
function readDeclarations(folder) {
  const declared = new Map()
  const exported = new Map()
  for (const file of readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.d.ts'))) {
    const { body } = parseSync(file, readFileSync(join(folder, file), 'utf8')).program
    const specifiers = body.flatMap((node) => (node.type === 'ExportNamedDeclaration' ? node.specifiers : []))
    exported.set(file, new Set(specifiers.map(({ local }) => local.name)))
    for (const node of body.map((each) => each.declaration ?? each))
      for (const { id } of node.declarations ?? [node])
        if (id) declared.set(id.name, [...(declared.get(id.name) ?? []), { file, node }])
  }
  return { declared, exported }
}

test('every name that editors show on hover is exported', () => {
  const { entries, exportedByHosts, folder, untyped } = packages['idp-client']
  const { declared, exported } = readDeclarations(fromRoot(`${folder}/dist`))
  const files = Object.keys(entries).flatMap((entry) =>
    ['cli', ...untyped].includes(entry) ? [] : [`${entry}.d.ts`],
  )
  const byAllHosts = Object.keys(exportedByHosts).map((entry) => `${entry}.d.ts`)
  const byEntries = new Set([...files, ...byAllHosts].flatMap((file) => [...exported.get(file)]))
  // A set is iterated with what is added meanwhile.
  const shown = new Set(byEntries)
  for (const name of shown)
    for (const { node } of declared.get(name) ?? []) for (const other of namesIn(node)) shown.add(other)
  const isExported = (name, file) => (files.includes(file) ? exported.get(file) : byEntries).has(name)
  expect(shown.size).toBeGreaterThan(byEntries.size)
  expect(
    [...shown].flatMap((name) =>
      (declared.get(name) ?? [])
        .filter(({ file }) => !isExported(name, file))
        .map(({ file }) => `${file}: ${name}`),
    ),
  ).toEqual([])
})

/** The public properties and methods of the `IdpClient` of an entry, with those of its base classes. */
function membersOf(entry) {
  const { declared } = readDeclarations(fromRoot(`${packages['idp-client'].folder}/dist`))
  const membersOfClass = (name) => {
    const found = declared.get(name)
    const isOwn = ({ file }) => file === `${entry}.d.ts`
    const { node } = found.find(isOwn) ?? found.find(({ file }) => file.startsWith('shared/'))
    const isPublic = ({ accessibility, key }) => !accessibility && key.type === 'Identifier'
    const own = node.body.body.filter(isPublic).map(({ key }) => key.name)
    return node.superClass ? [...membersOfClass(firstName(node.superClass)), ...own] : own
  }
  return [...new Set(membersOfClass('IdpClient'))].filter((name) => name !== 'constructor')
}

test('an application that emits declarations can export everything that a client offers', async () => {
  const app = new PackedApp('exported')
  onTestFinished(() => app.remove())
  await app.install()
  const toModule = (entry) => {
    const members = membersOf(entry)
    expect(members).toEqual(expect.arrayContaining(['getSession', 'mfa', 'proxy']))
    return [
      `import { IdpClient } from '${entry === 'index' ? 'idp-client' : `idp-client/${entry}`}'`,
      'export const idp = new IdpClient()',
      ...members.map((name) => `export const { ${name} } = idp`),
      'export const { getAuthenticators } = mfa',
      'export const { currentId } = sessions',
    ].join('\n')
  }
  const files = packages['idp-client'].hosts.map((entry) => [`${entry}.ts`, toModule(entry)])
  const options = { declaration: true, emitDeclarationOnly: true, noEmit: false, outDir: 'out' }
  expect(await app.compile(Object.fromEntries(files), options)).toBe('')
})

// Linters reject a method that is taken off its object (`unbound-method` of typescript-eslint).
test.each([
  ['Fetcher', 'fetchWithAuth'],
  ['ContractCase', 'run'],
])('%s declares %s, which examples destructure, as a property', (name, member) => {
  const { declared } = readDeclarations(fromRoot(`${packages['idp-client'].folder}/dist`))
  const [{ node }] = declared.get(name)
  const members = node.body.body.filter(({ key }) => key?.name === member)
  expect(members.map(({ type }) => type)).toEqual(['TSPropertySignature'])
})

test('[P2] declarations contain no message and no fix: rewording one changes no type', () => {
  const dist = fromRoot(`${packages['idp-client'].folder}/dist`)
  const files = readdirSync(dist, { recursive: true }).filter((path) => path.endsWith('.d.ts'))
  const text = files.map((path) => readFileSync(join(dist, path), 'utf8')).join('\n')
  const sentences = [...Object.values(codes).map(({ message }) => message), ...Object.values(remedies)]
  expect(files.length).toBeGreaterThan(30)
  expect(sentences.filter((sentence) => text.includes(sentence))).toEqual([])
  expect(text).toContain("'SESSION_TOO_LARGE'")
  // A type that is derived from a private table prints the table; that of the codes is exported.
  expect(text.match(/keyof typeof (?!codesByClass)\w+|\(typeof (?!codesByClass)\w+\)\[\w+\]/g)).toBeNull()
})

/** The modules that a declaration file imports, and those that they import. */
function importedWith(file, seen = new Set()) {
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/\bfrom "([^"]+)"/g)) {
    const source = specifier.startsWith('.')
      ? join(dirname(file), specifier.replace(/\.js$/, '.d.ts'))
      : specifier
    if (seen.has(source)) continue
    seen.add(source)
    if (source !== specifier) importedWith(source, seen)
  }
  return seen
}

const onNode = ['express', 'fastify', 'koa', 'nest', 'next', 'node', 'nuxt', 'nuxt-client', 'testing', 'cli']
const { entries, untyped } = packages['idp-client']
const onTheWeb = Object.keys(entries).filter((entry) => ![...onNode, ...untyped].includes(entry))

test.each(onTheWeb)('declarations of %s need no types of Node', (entry) => {
  const file = fromRoot(`${packages['idp-client'].folder}/dist/${entry}.d.ts`)
  expect([...importedWith(file)].filter((source) => source.startsWith('node:'))).toEqual([])
})
