import { posix } from 'node:path'
import type { CreateCodemod, Deleted } from './application.ts'
import { findCalls } from './calls.ts'
import type { Rewritten } from './code.ts'
import { blank, closingBracket, literalString, word } from './code.ts'
import { Draft } from './draft.ts'
import { findImports, keepUsedNames, spellings } from './imports.ts'
import type { NextAuthApplication } from './next-auth-application.ts'
import {
  clientSpecifier,
  findFormerSecret,
  isPeer,
  printClient,
  readApplication,
} from './next-auth-application.ts'
import { peer, remarksEverywhere, texts, unavailable } from './next-auth-rules.ts'
import { parseObject } from './object-literal.ts'
import { remarksOn, sortRemarks } from './remarks.ts'
import { renameReads } from './variables.ts'

/** The rewriting of one file. */
class NextAuthDraft extends Draft {
  readonly application: NextAuthApplication
  readonly original: string
  /** Names that the file needs of idp-client/react. */
  readonly react = new Set<string>()
  usesClient = false

  constructor(text: string, application: NextAuthApplication) {
    super(text, isPeer)
    this.application = application
    this.original = text
  }
}

/** Returns the argument of `getSession` on the server for those of next-auth; null if they are something else. */
function toRequest(name: string, args: readonly string[]): string | null {
  const [first = ''] = args
  if (name !== 'getSession' && args.length < 2) return ''
  if (name !== 'getSession') return args.length === 3 ? first : null
  const [property, ...others] = parseObject(first) ?? []
  if (args.length !== 1 || property?.name !== 'req' || others.length > 0) return null
  return property.value ?? 'req'
}

/** Replaces `getServerSession(authOptions)`, and `getSession({ req })`. */
function rewriteServerSessions(draft: NextAuthDraft): void {
  const options = new Set<string>()
  for (const name of ['getServerSession', 'unstable_getServerSession', 'getSession'])
    draft.replaceCalls(name, ({ args }) => {
      const request = toRequest(name, args)
      if (request === null) return null
      if (name !== 'getSession' && /^[\w$]+$/.test(args.at(-1) ?? '')) options.add(args.at(-1) ?? '')
      draft.usesClient = true
      return `${draft.client}.getSession(${request})${draft.mark(texts.session)}`
    })
  for (const name of options) keepUsedNames(draft, ({ names }) => names.some(({ local }) => local === name))
}

const sessionHook = /(?<=^([ \t]*))(const|let|var)\s+\{([^{}]*)\}\s*=\s*(?=[\w$.]+\s*\()/gm

/** Replaces `const { data, status } = useSession()` by the same names, made of those of `useUser`. */
function rewriteHooks(draft: NextAuthDraft): void {
  for (const local of spellings(draft.statements, 'useSession')) {
    const calls = findCalls(draft.text, local).filter(({ args }) => args.length === 0)
    const code = blank(draft.text)
    const edits = [...code.matchAll(sessionHook)].flatMap(
      ({ 0: found, 1: indent = '', 3: list = '', index }) => {
        const call = calls.find(({ start }) => start === index + found.length)
        const names = toHookNames(list)
        if (call === undefined || names === null) return []
        return [{ start: index, end: call.end, text: printHook(draft, names, indent) }]
      },
    )
    draft.apply(edits)
  }
}

type HookNames = Readonly<{ data?: string; status?: string }>

function toHookNames(list: string): HookNames | null {
  const names: Record<string, string> = {}
  for (const entry of list
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')) {
    const match = /^(data|status)(?:\s*:\s*([\w$]+))?$/.exec(entry)
    if (match === null) return null
    const [, name = '', local = name] = match
    names[name] = local
  }
  return names
}

function printHook(draft: NextAuthDraft, { data, status }: HookNames, indent: string): string {
  draft.react.add('useUser')
  const code = blank(draft.text)
  const user = word('user').test(code) ? 'idpUser' : 'user'
  const loading = word('isLoading').test(code) ? 'isLoadingUser' : 'isLoading'
  const entries = [
    user === 'user' ? 'user' : `user: ${user}`,
    ...(status === undefined ? [] : [loading === 'isLoading' ? loading : `isLoading: ${loading}`]),
  ]
  const value = user === 'user' ? '{ user }' : `{ user: ${user} }`
  return [
    `const { ${entries.join(', ')} } = useUser()${draft.mark(texts.user)}`,
    ...(data === undefined ? [] : [`const ${data} = ${user} && ${value}`]),
    ...(status === undefined
      ? []
      : [`const ${status} = ${loading} ? 'loading' : ${user} ? 'authenticated' : 'unauthenticated'`]),
  ].join(`\n${indent}`)
}

/** Returns the path of `callbackUrl`, '' without one; null if it is not written out or there are other options. */
function toCallbackPath(argument: string | undefined): string | null {
  if (argument === undefined) return ''
  const [property, ...others] = parseObject(argument) ?? []
  if (property?.name !== 'callbackUrl' || others.length > 0) return null
  const path = literalString(property.value ?? '')
  return path !== undefined && /^\/(?!\/)/.test(path) ? path : null
}

const query = (path: string): string => encodeURIComponent(path).replaceAll('%2F', '/')
const currentPath = 'window.location.pathname + window.location.search'
const navigation = (url: string): string => `window.location.assign(${url})`

function rewriteLinks(draft: NextAuthDraft): void {
  const { providerId } = draft.application
  draft.replaceCalls('signIn', ({ args: [provider, options, ...others], end }) => {
    const isOwn =
      provider === undefined || (providerId !== undefined && literalString(provider) === providerId)
    const path = toCallbackPath(options)
    if (!isOwn || path === null || others.length > 0 || isChained(draft, end)) return null
    if (path !== '') return navigation(`'/auth/login?returnTo=${query(path)}'`)
    return navigation(`\`/auth/login?returnTo=\${encodeURIComponent(${currentPath})}\``)
  })
  draft.replaceCalls('signOut', ({ args: [options, ...others], end }) => {
    const path = toCallbackPath(options)
    if (path === null || others.length > 0 || isChained(draft, end)) return null
    const parameters = path === '' || path === '/' ? '' : `?returnTo=${query(path)}`
    return navigation(`'/auth/logout${parameters}'`) + draft.mark(texts.logout)
  })
}

const isChained = ({ text }: NextAuthDraft, end: number): boolean => /^\s*\??\./.test(text.slice(end))

/** Renames the component, with a remark where it has properties. */
function rewriteProvider(draft: NextAuthDraft): void {
  for (const local of spellings(draft.statements, 'SessionProvider').filter((name) => !name.includes('.'))) {
    const code = blank(draft.text)
    const tags = [...code.matchAll(new RegExp(`(?<=<\\/?)${local.replaceAll('$', '\\$')}(?![\\w$.])`, 'g'))]
    if (tags.length === 0) continue
    draft.react.add('IdpProvider')
    const edits = tags.map(({ index, 0: { length } }) => {
      const hasProperties = /^\s+[\w{]/.test(code.slice(index + length))
      const text = `IdpProvider${hasProperties ? draft.mark(texts.provider) : ''}`
      return { start: index, end: index + length, text }
    })
    draft.apply(edits)
  }
}

/** Adds the imports of this package, and removes the names of next-auth that nothing uses any more. */
function rewriteImports(draft: NextAuthDraft, path: string): void {
  const [first] = findImports(draft.text, isPeer)
  const lines = [
    ...(draft.react.size > 0
      ? [`import { ${[...draft.react].sort().join(', ')} } from 'idp-client/react'`]
      : []),
    ...(draft.usesClient
      ? [
          `import { ${draft.client === 'idp' ? 'idp' : `idp as ${draft.client}`} } from '${clientSpecifier(draft.application, path, draft.original)}'`,
        ]
      : []),
  ]
  if (first === undefined) return
  const semicolon = draft.text.slice(first.start, first.end).endsWith(';') ? ';' : ''
  const added = lines.map((line) => `${line}${semicolon}\n`).join('')
  draft.apply([{ start: first.start, end: first.start, text: added }])
  if (draft.text !== draft.original) keepUsedNames(draft, ({ module }) => isPeer(module))
  const remaining = findImports(draft.text, isPeer)
  draft.apply(
    remaining.flatMap(({ start, names, whole, module }) => {
      const used = [
        ...names.map(({ name }) => name),
        ...(whole !== undefined && module === peer ? ['default'] : []),
      ]
      const known = used.filter((name) => Object.hasOwn(unavailable, name))
      return known.map((name) => ({
        start,
        end: start,
        text: draft.mark(`${name === 'default' ? 'NextAuth()' : name} ${unavailable[name]}.`),
      }))
    }),
  )
}

const handler =
  /^(?:\s*import\b[^;\n]*;?)+\s*(?:const\s+(\w+)\s*=\s*NextAuth\(\s*\w+\s*\)(?:\s+as\s+\w+)?;?\s*export\s*\{\s*\1\s+as\s+GET\s*,\s*\1\s+as\s+POST\s*,?\s*\}|export\s+default\s+NextAuth\(\s*\w+\s*\));?\s*$/

/** Whether a file does nothing but mount next-auth with options of another module. */
const isOnlyHandler = (path: string, text: string): boolean =>
  /\[\.\.\.nextauth\]/.test(path) && handler.test(blank(text))

/** Whether a file only declares types of next-auth. */
function isOnlyAugmentation(text: string): boolean {
  let code = blank(text)
  let rest = text
  for (const { index } of [...code.matchAll(/\bdeclare\s+module\b/g)].reverse()) {
    const open = code.indexOf('{', index)
    if (
      open === -1 ||
      !/^declare\s+module\s+['"]next-auth(?:\/[\w/-]+)?['"]\s*$/.test(text.slice(index, open))
    )
      return false
    const end = closingBracket(code, open) + 1
    code = code.slice(0, index) + code.slice(end)
    rest = rest.slice(0, index) + rest.slice(end)
  }
  if (rest === text) return false
  const others = blank(rest).replaceAll(/\bimport\b[^;\n]*;?|\bexport\s*\{\s*\};?/g, '')
  return others.trim() === '' && findImports(rest, (module) => !isPeer(module)).length === 0
}

function rewriteSource(text: string, path: string, application: NextAuthApplication): Rewritten | Deleted {
  if (isOnlyHandler(path, text) || isOnlyAugmentation(text)) return { text: null, remarks: [] }
  const draft = new NextAuthDraft(text, application)
  if (draft.statements.length > 0) {
    rewriteServerSessions(draft)
    rewriteHooks(draft)
    rewriteLinks(draft)
    rewriteProvider(draft)
    rewriteImports(draft, path)
  }
  draft.text = renameReads(draft.text, application.variables)
  const marked = draft.finish()
  const hasOptions =
    findImports(draft.text, isPeer).length > 0 && /(?<![\w$.])providers\s*:\s*\[/.test(blank(draft.text))
  const options = hasOptions ? [{ line: 1, text: texts.options }] : []
  const isClient = path === application.clientPath
  const callback = application.providerId === undefined ? [texts.callback] : []
  const lifetime = application.maxAge === undefined ? [texts.lifetime] : []
  const takeOver = texts.client.replace('NEXTAUTH_SECRET', findFormerSecret(application))
  const client = isClient
    ? [takeOver, ...callback, ...lifetime].map((remark) => ({ line: 1, text: remark }))
    : []
  return {
    text: draft.text,
    remarks: sortRemarks([...marked, ...options, ...client, ...remarksOn(draft.text, remarksEverywhere)]),
  }
}

/** The codemod for next-auth 4: sessions on the server and in components, links, the provider, routes and variables. */
export const nextAuth: CreateCodemod = (files) => {
  const application = readApplication(files)
  const { variables, clientPath, needsClient } = application
  return {
    peer,
    variables,
    rewriteSource: (text, path) => rewriteSource(text, posix.normalize(path), application),
    created: needsClient ? new Map([[clientPath, printClient(application)]]) : undefined,
  }
}
