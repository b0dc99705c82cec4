import type { CreateCodemod, Files } from './application.ts'
import type { Call } from './calls.ts'
import { findCalls } from './calls.ts'
import type { Edit, Remark, Rewritten } from './code.ts'
import { blank, closingBracket, lineAt, literalString, word } from './code.ts'
import { Draft } from './draft.ts'
import type { RewrittenOptions } from './express-openid-connect-options.ts'
import { rewriteOptions } from './express-openid-connect-options.ts'
import {
  access,
  peer,
  protocolClaim,
  remarksEverywhere,
  renamedOptions,
  sameOptions,
  texts,
  unavailable,
  variables,
} from './express-openid-connect-rules.ts'
import { awaitingEdits } from './functions.ts'
import { findImports, replaceImports, spellings } from './imports.ts'
import { reindent } from './object-literal.ts'
import { remarksOn, sortRemarks } from './remarks.ts'
import { renameReads } from './variables.ts'

const isPeer = (module: string): boolean => module === peer

class ExpressDraft extends Draft {
  /** Whether the version of Express ignores the promises of handlers. */
  readonly ignoresPromises: boolean

  constructor(text: string, ignoresPromises: boolean) {
    super(text, isPeer)
    this.ignoresPromises = ignoresPromises
  }
}

/**
 * Returns the edits of `config.baseURL` and so on; null if the variable is used otherwise, which depends on the names of all its
 * properties.
 */
function toPropertyUses(text: string, name: string): Edit[] | null {
  const code = blank(text)
  const uses = [...code.matchAll(word(name))].map(({ index }) => index + name.length)
  const accesses = uses.flatMap((end) => {
    const match = /^\s*\.\s*([\w$]+)/.exec(code.slice(end))
    const [found = '', option = ''] = match ?? []
    const wanted = Object.hasOwn(renamedOptions, option) ? renamedOptions[option] : undefined
    const isKnown = wanted !== undefined || sameOptions.has(option) || option === 'secret'
    return match === null || !isKnown
      ? []
      : [{ start: end + found.length - option.length, end: end + found.length, text: wanted ?? option }]
  })
  // The declaration, and the argument of `auth()`.
  return uses.length - accesses.length === 2 ? accesses : null
}

/** Returns the options of `auth(…)` with the edit of the object, if that stands elsewhere in the file. */
function toOptions(draft: ExpressDraft, argument: string, indent: string): Options | null {
  const direct = rewriteOptions(reindent(argument, indent), indent)
  if (direct !== null) return { ...direct, expression: direct.text, edits: [] }
  if (!/^[\w$]+$/.test(argument)) return null
  const name = argument.replaceAll('$', '\\$')
  const code = blank(draft.text)
  const declared = [
    ...code.matchAll(
      new RegExp(
        `(?<=^([ \\t]*)(?:export\\s+)?(?:const|let|var)\\s+${name}(\\s*:[^=\\n]+)?\\s*=\\s*)\\{`,
        'gm',
      ),
    ),
  ]
  const [declaration] = declared
  const uses = toPropertyUses(draft.text, argument)
  if (declaration === undefined || declared.length > 1 || uses === null) return null
  const { index: open, 1: outer = '' } = declaration
  const end = closingBracket(code, open) + 1
  const found = rewriteOptions(draft.text.slice(open, end), outer)
  if (found === null) return null
  const edits = [{ start: open, end, text: draft.markLines(found.text, found.remarks) }, ...uses]
  return { ...found, expression: argument, remarks: [], edits }
}

interface Options extends RewrittenOptions {
  readonly expression: string
  readonly edits: readonly Edit[]
}

/** Returns the remark on `takeOver`, with the variable of the secret. */
function toClientRemark(text: string): string {
  const [, name, quoted] =
    /(?<![\w$.])secret\s*:\s*process\.env(?:\.(\w+)|\[\s*['"](\w+)['"]\s*\])/.exec(text) ?? []
  return texts.client.replace('SECRET', name ?? quoted ?? 'SECRET')
}

/** Replaces `app.use(auth(options))` by a client, its middleware, and a guard unless `authRequired` is false. */
function rewriteClient(draft: ExpressDraft): void {
  const calls = spellings(draft.statements, 'auth').flatMap((name) => findCalls(draft.text, name))
  const [call] = calls
  if (call === undefined || calls.length > 1) return
  const code = blank(draft.text)
  const before = /(?<=^|\n)([ \t]*)([\w$.]+)\.use\(\s*$/.exec(code.slice(0, call.start))
  const after = /^\s*,?\s*\)[ \t]*(;?)/.exec(code.slice(call.end))
  if (before === null || after === null) return
  const [, indent = '', app = ''] = before
  const options = toOptions(draft, call.args[0] ?? '{}', indent)
  if (options === null) return
  const semicolon = after[1] ?? ''
  const argument = draft.markLines(options.expression, options.remarks)
  const statements = [
    `const ${draft.client} = new IdpClient(${argument})${draft.mark(toClientRemark(draft.text))}${semicolon}\n`,
    `${app}.use(${draft.client}.middleware)${semicolon}`,
    ...(options.needsGuard
      ? [`${app}.use(${draft.client}.withPageAuthRequired())${draft.mark(texts.guard)}${semicolon}`]
      : []),
  ]
  const text = statements.map((statement) => indent + statement).join('\n')
  draft.apply([{ start: before.index, end: call.end + after[0].length, text }, ...options.edits])
}

const identifier = /^[A-Za-z_$][\w$]*$/

/** Returns the condition that a guard for claims has, or null if it is not written out. */
function claimCondition(name: string, args: readonly string[]): string | null {
  const [claim, ...expected] = args
  const key = literalString(claim ?? '')
  const isLiteral = (text: string): boolean =>
    literalString(text) !== undefined || /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(text)
  if (key === undefined || expected.length === 0 || !expected.every(isLiteral)) return null
  const value = identifier.test(key) ? `claims.${key}` : `claims['${key}']`
  if (name === 'claimEquals') return expected.length === 1 ? `${value} === ${expected[0]}` : null
  return [`Array.isArray(${value})`, ...expected.map((each) => `${value}.includes(${each})`)].join(' && ')
}

function guardOf(draft: ExpressDraft, name: string, { args }: Call): string | null {
  const guard = `${draft.client}.withPageAuthRequired(`
  if (name === 'requiresAuth') return args.length === 0 ? `${guard})${draft.mark(texts.guard)}` : null
  const condition = claimCondition(name, args)
  if (condition === null) return null
  const marks = draft.mark(texts.claims) + (name === 'claimIncludes' ? draft.mark(texts.includes) : '')
  return `${guard}{ authorize: ({ claims }) => ${condition} })${marks}`
}

/** Replaces the guards whose condition is written out. */
function rewriteGuards(draft: ExpressDraft): void {
  for (const name of ['requiresAuth', 'claimEquals', 'claimIncludes'])
    draft.replaceCalls(name, (call) => guardOf(draft, name, call))
}

const request = '(?<![\\w$.])_?req(?:uest)?\\s*\\.\\s*oidc'
const property = '\\s*\\??\\.\\s*'

/** Expressions of `req.oidc`, and what replaces them. */
const expressions: readonly (readonly [
  pattern: string,
  replace: (match: RegExpMatchArray, session: string) => string,
])[] = [
  [
    `(const|let|var)\\s+\\{\\s*user(?:\\s*:\\s*([\\w$]+))?\\s*\\}\\s*=\\s*${request}(?!${property})(?![\\w$([])`,
    ([, kind, name = 'user'], session) => `${kind} ${name} = ${session}?.user`,
  ],
  [`!\\s*${request}${property}isAuthenticated\\(\\s*\\)`, (_match, session) => `${session} === null`],
  [`(?<!!\\s*)${request}${property}isAuthenticated\\(\\s*\\)`, (_match, session) => `${session} !== null`],
  [
    `${request}${property}(?:user(?!${protocolClaim})(?![\\w$]|\\s*=[^=])|idTokenClaims(?!${protocolClaim})(?=${access}\\w))`,
    (_match, session) => `${session}?.user`,
  ],
  [
    `${request}${property}(idToken|refreshToken)(?![\\w$]|\\s*=[^=])`,
    ([, name], session) => `${session}?.tokenSet.${name}`,
  ],
]

/** Applies edits with `await` where that is possible; returns whether it was anywhere. */
function applyAwaiting(draft: ExpressDraft, code: string, edits: readonly Edit[]): boolean {
  const applied = awaitingEdits(code, edits)
  draft.apply(
    applied.map((edit) =>
      edit.start === edit.end && draft.ignoresPromises
        ? { ...edit, text: edit.text + draft.mark(texts.promise) }
        : edit,
    ),
  )
  return applied.length > 0
}

function rewriteRequests(draft: ExpressDraft): void {
  for (const [pattern, replace] of expressions) {
    const code = blank(draft.text)
    const edits = [...code.matchAll(new RegExp(pattern, 'g'))].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
      text: replace(match, `(await ${draft.client}.getSession())`),
    }))
    applyAwaiting(draft, code, edits)
  }
  const userInfo = new RegExp(`${request}${property}fetchUserInfo\\(\\s*\\)`, 'g')
  draft.apply(
    [...blank(draft.text).matchAll(userInfo)].map(({ 0: found, index }) => ({
      start: index,
      end: index + found.length,
      text: `${draft.client}.getUserInfo()`,
    })),
  )
}

/** Replaces `res.oidc.login(…)` where its options are written out. */
function rewriteLogins(draft: ExpressDraft): boolean {
  const code = blank(draft.text)
  const pattern = /(?<![\w$.])(_?res(?:ponse)?)\s*\.\s*oidc\s*\.\s*login(?=\s*\()/g
  const edits = [...code.matchAll(pattern)].flatMap(({ 0: found, 1: response, index }) => {
    const open = code.indexOf('(', index + found.length)
    const end = closingBracket(code, open) + 1
    const argument = draft.text.slice(open + 1, end - 1).trim()
    if (!/^(?:\{[\s\S]*\})?$/.test(argument) || /\bsilent\b|\.\.\./.test(blank(argument))) return []
    const isComplete = /\breturnTo\b/.test(blank(argument))
    const options = argument.replace(/\bauthorizationParams\b/, 'authorizationParameters')
    const login = `${draft.client}.startInteractiveLogin(${options})${isComplete ? '' : draft.mark(texts.returnTo)}`
    return [{ start: index, end, text: `sendResponse(${response}, await ${login})` }]
  })
  return applyAwaiting(draft, code, edits)
}

/** Replaces the import by one of the names that the file now needs, and of those without an equivalent. */
function rewriteImports(draft: ExpressDraft): void {
  const added = ['IdpClient', 'sendResponse'].filter((name) => word(name).test(blank(draft.text)))
  const renamed = { ConfigParams: 'IdpClientOptions' }
  replaceImports(draft, isPeer, { module: 'idp-client/express', added, renamed })
  const kept = findImports(draft.text, (module) => module === 'idp-client/express')
  const exported = kept.filter(({ isExported }) => isExported)
  draft.apply(exported.map(({ end }) => ({ start: end, end, text: draft.mark(texts.exported) })))
  remarkUnavailable(draft)
}

/** Reports each use of a name without an equivalent, where it is no import and no name of a property. */
function remarkUnavailable(draft: ExpressDraft): void {
  const code = blank(draft.text)
  const imports = findImports(draft.text, (module) => module === 'idp-client/express')
  const edits = Object.entries(unavailable).flatMap(([name, reason]) =>
    spellings(draft.statements, name).flatMap((local) =>
      [...code.matchAll(word(local))].flatMap(({ 0: found, index }) => {
        const next = code.slice(index + found.length).trimStart()
        const isImport = imports.some(({ start, end }) => index >= start && index < end)
        if (isImport || next.startsWith(':')) return []
        const remark = next.startsWith('(')
          ? `${name} ${reason}.`
          : `${name} does not exist here. ${texts.exported}`
        return { start: index, end: index, text: draft.mark(remark) }
      }),
    ),
  )
  draft.apply(edits)
}

/** Rewrites TypeScript and JavaScript. Works on text: what the spelling does not decide becomes a remark. */
export function rewriteSource(text: string, ignoresPromises = false): Rewritten {
  const draft = new ExpressDraft(text, ignoresPromises)
  const isImported = draft.statements.length > 0
  const usesOidc = /\.oidc\b/.test(blank(text))
  if (!isImported && !usesOidc) return { text: renameReads(text, variables), remarks: [] }
  rewriteClient(draft)
  rewriteGuards(draft)
  rewriteRequests(draft)
  const sends = rewriteLogins(draft)
  if (isImported) rewriteImports(draft)
  draft.text = renameReads(draft.text, variables)
  const marked = draft.finish()
  const missing = remarkMissing(draft, sends && !isImported)
  return {
    text: draft.text,
    remarks: sortRemarks([...marked, ...missing, ...remarksOn(blank(draft.text), remarksEverywhere)]),
  }
}

/** Reports a client that the file uses but does not import. */
function remarkMissing({ text, client }: ExpressDraft, needsSend: boolean): Remark[] {
  const code = blank(text)
  const use = code.search(new RegExp(`(?<![\\w$.])${client}\\.`))
  const isDeclared = new RegExp(`\\b(?:const|let|var)\\b[^=;\\n]*\\b${client}\\b[^=\\n]*=`).test(code)
  const isImported = findImports(text, () => true).some(
    ({ names, whole }) => whole === client || names.some(({ local }) => local === client),
  )
  if (use === -1 || isDeclared || isImported) return []
  const line = lineAt(text, use)
  const send = { line, text: 'Import sendResponse from idp-client/express.' }
  return [{ line, text: texts.import }, ...(needsSend ? [send] : [])]
}

const isExpress4 = (files: Files): boolean =>
  [...files].some(([path, text]) => path.endsWith('package.json') && /"express"\s*:\s*"[~^]?4\b/.test(text))

/** The codemod for express-openid-connect 3: the client, guards, `req.oidc`, `res.oidc.login` and variables. */
export const expressOpenidConnect: CreateCodemod = (files) => ({
  peer,
  variables,
  rewriteSource: (text) => rewriteSource(text, isExpress4(files)),
})
