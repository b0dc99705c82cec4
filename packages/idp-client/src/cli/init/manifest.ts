import { isObject } from '../../lib/objects.ts'

type Group = Readonly<Record<string, string>>

/** The additions of `init` to `package.json`. */
export interface ManifestAdditions {
  readonly dependencies: Group
  readonly devDependencies: Group
  readonly scripts: Group
}

/** A parsed `package.json`. */
export type Content = Readonly<Record<string, unknown>>

const toGroup = (value: unknown): Content => (isObject(value) ? value : {})

/** Adds the entries that a group lacks; sorted groups stay sorted, as npm keeps them. */
function add(content: Content, name: string, additions: Content): Content {
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
export function editManifest(text: string, content: Content, additions: ManifestAdditions): string {
  const groups = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  const isListed = (name: string): boolean =>
    groups.some((group) => Object.hasOwn(toGroup(content[group]), name))
  const missing = (group: Group): Content =>
    Object.fromEntries(Object.entries(group).filter(([name]) => !isListed(name)))
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

/** Returns the manifest of a new application. */
export const createManifest = (name: string): Content => ({ name, private: true, type: 'module' })
