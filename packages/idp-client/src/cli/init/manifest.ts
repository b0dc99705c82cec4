import { isObject } from '../../lib/objects.ts'
import { InitError } from './init-error.ts'

type Content = Readonly<Record<string, unknown>>
type Group = Readonly<Record<string, string>>

/** `package.json` as far as `init` reads it. */
export interface Manifest {
  readonly text: string
  readonly content: Content
  /** Names of all direct dependencies, with their ranges. */
  readonly dependencies: ReadonlyMap<string, string>
}

/** The additions of `init` to `package.json`. */
export interface ManifestAdditions {
  readonly dependencies: Group
  readonly devDependencies: Group
  readonly scripts: Group
}

const toGroup = (value: unknown): Content => (isObject(value) ? value : {})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses `package.json`. */
export function parseManifest(text: string): Manifest {
  // Editors of Windows begin files with a byte order mark, which npm and Node.js ignore.
  const content = parseJson(text.replace(/^\uFEFF/, ''))
  if (!isObject(content)) throw new InitError('package.json is not a JSON object. Correct it first.')
  const groups = ['peerDependencies', 'optionalDependencies', 'devDependencies', 'dependencies']
  const entries = groups.flatMap((name) => Object.entries(toGroup(content[name])))
  return { text, content, dependencies: new Map(entries.map(([name, range]) => [name, String(range)])) }
}

/** Returns the manifest of a new application, with a name that npm accepts. */
export function createManifest(folder: string): Manifest {
  const name = folder.toLowerCase().replaceAll(/[^\w.-]/g, '-')
  return parseManifest(`${JSON.stringify({ name, private: true, type: 'module' }, null, 2)}\n`)
}

/** Adds the entries that a group lacks; sorted groups stay sorted, as npm keeps them. */
function add(content: Content, name: string, additions: Group): Content {
  const group = toGroup(content[name])
  const missing = Object.entries(additions).filter(([key]) => !Object.hasOwn(group, key))
  if (missing.length === 0) return content
  const entries = [...Object.entries(group), ...missing]
  if (name !== 'scripts') entries.sort(([a], [b]) => a.localeCompare(b, 'en'))
  return { ...content, [name]: Object.fromEntries(entries) }
}

/**
 * Returns the text of `package.json` with what it lacks. Indentation, line ends and the order of its properties stay; a package
 * that it has already, in whatever group, and a script of the same name are left alone.
 */
export function editManifest(
  { content, dependencies, text }: Manifest,
  additions: ManifestAdditions,
): string {
  const missing = (group: Group): Group =>
    Object.fromEntries(Object.entries(group).filter(([name]) => !dependencies.has(name)))
  const withScripts = add(content, 'scripts', additions.scripts)
  const withDependencies = add(withScripts, 'dependencies', missing(additions.dependencies))
  const edited = add(withDependencies, 'devDependencies', missing(additions.devDependencies))
  return edited === content ? text : format(text, edited)
}

function format(text: string, content: Content): string {
  const [, mark = '', indent = '  '] = /^(\uFEFF?)(?:\{\r?\n([ \t]+))?/.exec(text) ?? []
  const json = mark + JSON.stringify(content, null, indent) + (/\n\s*$/.test(text) ? '\n' : '')
  return text.includes('\r\n') ? json.replaceAll('\n', '\r\n') : json
}
