import { posix } from 'node:path'
import type { Files } from './application.ts'
import { fileKind } from './application.ts'
import { blank, closingBracket, literalString, openingBracket, splitList } from './code.ts'
import { findImports } from './imports.ts'
import { ownVariables, peer, settings } from './next-auth-rules.ts'
import { parseObject } from './object-literal.ts'
import type { Variables } from './variables.ts'

/** Whether a module is next-auth or an entry of it. */
export const isPeer = (module: string): boolean => module === peer || module.startsWith(`${peer}/`)

/** The provider and the folders of an application with next-auth. */
export interface NextAuthApplication {
  readonly variables: Variables
  /** The id of the only provider; undefined if there are several, or if the id is not written out. */
  readonly providerId: string | undefined
  /** `session.maxAge` as it is written; '' without one, undefined if the options are not found, or do not write it out. */
  readonly maxAge: string | undefined
  /** The module that creates the client. */
  readonly clientPath: string
  /** The folder that `@/` means, with `/` at its end; undefined without that alias. */
  readonly aliasRoot: string | undefined
  /** Whether the module of the client has to be created. */
  readonly needsClient: boolean
}

interface Providers {
  readonly entries: string[]
  /** The object that has the list. */
  readonly options: string
  readonly text: string
}

/** Returns the entries of `providers: […]`, with the file that has them; null unless there is one such list. */
function findProviders(files: Files): Providers | null {
  const lists = [...files].flatMap(([path, text]) => {
    if (fileKind(path) !== 'source' || findImports(text, isPeer).length === 0) return []
    const code = blank(text)
    return [...code.matchAll(/(?<![\w$.])providers\s*:\s*\[/g)].map(({ 0: found, index }) => {
      const open = index + found.length - 1
      const entries = splitList(text.slice(open + 1, closingBracket(code, open)))
      const start = openingBracket(code, index)
      const options = text.slice(start, closingBracket(code, start) + 1)
      return { entries: entries.map((entry) => entry.trim()).filter((entry) => entry !== ''), options, text }
    })
  })
  return lists.length === 1 ? (lists[0] ?? null) : null
}

/** Returns a property as it is written: '' without it, undefined if it may be in a spread, or is not written out. */
function findWritten(object: string, property: string): string | undefined {
  const properties = parseObject(object)
  const found = properties?.find(({ name }) => name === property)
  if (found) return found.value
  return properties?.every(({ name }) => name !== undefined) ? '' : undefined
}

/** Returns the lifetime that the options name: a number, or a product of numbers. */
function toMaxAge(options: string): string | undefined {
  const session = findWritten(options, 'session')
  const maxAge = session && findWritten(session, 'maxAge')
  return !maxAge || /^[1-9][\d_]*(?:\s*\*\s*[1-9][\d_]*)*$/.test(maxAge) ? maxAge : undefined
}

function toProviderId(entry: string, text: string): string | undefined {
  const own = /(?<![\w$.])id\s*:\s*(['"][^'"]*['"])/.exec(entry)?.[1]
  if (own !== undefined) return literalString(own)
  const name = /^([\w$]+)\s*\(/.exec(entry)?.[1]
  const statement = findImports(text, isPeer).find(({ whole }) => whole === name && name !== undefined)
  return /^next-auth\/providers\/([\w-]+)$/.exec(statement?.module ?? '')?.[1]
}

/** Returns the variables of issuer, client and secret, if each is read in one place under one name. */
function findVariables(text: string): Variables {
  const pattern = new RegExp(
    `(?<![\\w$.])(${Object.keys(settings).join('|')})\\s*[:=]\\s*process\\.env(?:\\.(\\w+)|\\[\\s*['"](\\w+)['"]\\s*\\])`,
    'g',
  )
  const found = new Map<string, string>()
  for (const [, setting = '', name, quoted] of text.matchAll(pattern)) {
    const variable = name ?? quoted ?? ''
    const wanted = settings[setting] ?? ''
    const isOurs = /^(?:IDP_|APP_BASE_URL$)/.test(variable)
    if (isOurs || found.has(variable) || [...found.values()].includes(wanted)) continue
    found.set(variable, wanted)
  }
  return Object.fromEntries(found)
}

/** Returns the variable of the secret: that of the options, which precedes the one that next-auth reads itself. */
export const findFormerSecret = ({ variables }: NextAuthApplication): string =>
  Object.keys(variables)
    .filter((name) => variables[name] === settings['secret'])
    .at(-1) ?? 'NEXTAUTH_SECRET'

/** Returns the folder of the alias `@/` in tsconfig.json or jsconfig.json. */
function findAliasRoot(files: Files): string | undefined {
  const text = files.get('tsconfig.json') ?? files.get('jsconfig.json') ?? ''
  const folder = /"@\/\*"\s*:\s*\[\s*"(?:\.\/)?((?:[\w-]+\/)*)\*"/.exec(text)
  return folder?.[1]
}

/** Returns the module that exports a client as `idp`. */
const findClient = (files: Files): string | undefined =>
  [...files].find(
    ([path, text]) =>
      fileKind(path) === 'source' && /\bexport\s+const\s+idp\s*=\s*new\s+IdpClient\b/.test(blank(text)),
  )?.[0]

export function readApplication(files: Files): NextAuthApplication {
  const providers = findProviders(files)
  const [only, ...others] = providers?.entries ?? []
  const isOne = providers !== null && only !== undefined && others.length === 0
  const root = [...files.keys()].some((path) => /^src\/(?:app|pages)\//.test(path)) ? 'src/' : ''
  const extension = files.has('tsconfig.json') ? 'ts' : 'js'
  const existing = findClient(files)
  const clientPath = ['idp', 'idp-client', 'idp-client-next']
    .map((name) => `${root}lib/${name}.${extension}`)
    .find((path) => !files.has(path))
  return {
    variables: { ...ownVariables, ...(isOne ? findVariables(providers.text) : {}) },
    providerId: isOne ? toProviderId(only, providers.text) : undefined,
    maxAge: providers ? toMaxAge(providers.options) : undefined,
    clientPath: existing ?? clientPath ?? `${root}lib/idp.${extension}`,
    aliasRoot: findAliasRoot(files),
    needsClient:
      existing === undefined &&
      [...files].some(([path, text]) => fileKind(path) === 'source' && findImports(text, isPeer).length > 0),
  }
}

const month = '30 * 24 * 60 * 60'

const toSeconds = (product: string): number =>
  product.split('*').reduce((seconds, factor) => seconds * Number(factor.replaceAll('_', '')), 1)

/** Returns the module of the client. Lifetimes and callback URL stay those of next-auth, which knows no absolute end. */
export function printClient({ providerId, maxAge }: NextAuthApplication): string {
  const routes =
    providerId === undefined ? '' : `  routes: { callback: '/api/auth/callback/${providerId}' },\n`
  const inactive = maxAge || month
  const absolute = toSeconds(inactive) > toSeconds(month) ? inactive : month
  return `import { IdpClient } from 'idp-client/next'

export const idp = new IdpClient({
${routes}  session: { absoluteDuration: ${absolute}, inactivityDuration: ${inactive} },
})
`
}

/** Returns how a file imports the client: by the alias if the file uses it, else by a relative path. */
export function clientSpecifier(application: NextAuthApplication, path: string, text: string): string {
  const target = application.clientPath.replace(/\.[cm]?[jt]sx?$/, '')
  const { aliasRoot } = application
  if (aliasRoot !== undefined && /from\s+['"]@\//.test(text) && target.startsWith(aliasRoot))
    return `@/${target.slice(aliasRoot.length)}`
  const relative = posix.relative(posix.dirname(path), target)
  return relative.startsWith('.') ? relative : `./${relative}`
}
