import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Application } from './application.ts'
import { readNames, readText } from './application.ts'
import type { Change } from './diff.ts'
import type { Variable } from './env-file.ts'
import { appendLines, findMissing, isListedIn, toLines } from './env-file.ts'
import type { Git } from './git.ts'
import type { Guide, GuideFile } from './guides.ts'
import type { ManifestAdditions } from './manifest.ts'
import { createManifest, editManifest } from './manifest.ts'

/** The changes that `init` makes, and those that it leaves to the user. */
export interface Plan {
  readonly changes: readonly Change[]
  /** Each with its lines. */
  readonly byHand: readonly string[]
  /** Statements about what stays as it is. */
  readonly notes: readonly string[]
}

/** The part of a plan that one step makes. */
export type PartialPlan = Partial<Plan>

const SCRIPT = /\.(?:[cm]?[jt]s|[jt]sx)$/

/** Another file in the place of a module: `app/page.js` for `app/page.tsx`, and `middleware.ts` for `proxy.ts` of Next.js. */
async function findNamesake(folder: string, path: string): Promise<string | undefined> {
  if (!SCRIPT.test(path)) return undefined
  const name = basename(path)
  const place = path.slice(0, path.length - name.length)
  const stem = name.replace(SCRIPT, '')
  const stems = stem === 'proxy' || stem === 'middleware' ? ['proxy', 'middleware'] : [stem]
  const found = (await readNames(folder, place)).find(
    (each) => each !== name && SCRIPT.test(each) && stems.includes(each.replace(SCRIPT, '')),
  )
  return found === undefined ? undefined : place + found
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const indent = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
    .join('\n')

/** A file is created, or replaces one that is exactly as the official starter made it. */
async function planFile(folder: string, { path, text, starter }: GuideFile): Promise<Change | string | null> {
  const before = await readText(folder, path)
  if (before === text) return null
  if (before !== undefined && !starter.includes(sha256(before)))
    return `${path} has other content. Combine it with:\n${indent(text)}`
  const namesake = before === undefined ? await findNamesake(folder, path) : undefined
  if (namesake !== undefined)
    return `${namesake} is in the place of ${path}. Combine it with:\n${indent(text)}`
  return { path, before: before ?? null, text }
}

const toImported = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, module = '']) => module)

/**
 * Notes what a replaced file of the starter had besides: styles, which a module imports without a name, and what a configuration
 * imports.
 */
function findDropped({ path, before, text }: Change): string[] {
  const pattern = /\.config\.\w+$/.test(path)
    ? /^import\b[^'"]*['"]([^'"]+)['"]/gm
    : /^import\s*['"]([^'"]+)['"]/gm
  const kept = toImported(text, pattern)
  const dropped = toImported(before ?? '', pattern).filter((module) => !kept.includes(module))
  if (dropped.length === 0) return []
  return [`${path} is replaced, without ${dropped.join(', ')}: add that again if your pages need it.`]
}

/** Plans the files of a guide. */
export async function planFiles(folder: string, files: readonly GuideFile[]): Promise<PartialPlan> {
  const planned = await Promise.all(files.map((file) => planFile(folder, file)))
  const changes = planned.filter((each) => typeof each === 'object').filter((each) => each !== null)
  return {
    changes,
    byHand: planned.filter((each) => typeof each === 'string'),
    notes: changes.flatMap(findDropped),
  }
}

/** Plans `package.json`, which a new application does not have yet. */
export function planManifest({ folder, manifest }: Application, additions: ManifestAdditions): Change[] {
  const before = manifest?.text ?? null
  const text = editManifest(manifest ?? createManifest(basename(folder)), additions)
  return text === before ? [] : [{ path: 'package.json', before, text }]
}

const toMajor = (range: string): string | undefined => /\d+/.exec(range)?.[0]

/**
 * Plans the further packages of a guide. Beside another major version of the framework than the guide was tested with, npm has to
 * choose theirs.
 */
export function planDependencies(
  { manifest }: Application,
  { packages, tested, dependencies }: Guide,
): PartialPlan & Pick<ManifestAdditions, 'dependencies'> {
  const [name = ''] = packages
  const range = manifest?.dependencies.get(name)
  const missing = Object.keys(dependencies).filter((each) => !manifest?.dependencies.has(each))
  const fits = range === undefined || (toMajor(range) ?? toMajor(tested)) === toMajor(tested)
  if (fits || missing.length === 0) return { dependencies }
  const list = missing.join(' ')
  const text = `Install ${list} in the version that fits ${name} ${range}: npm install ${list}@<version>`
  return { dependencies: {}, byHand: [text] }
}

/** How an environment file is kept out of git. */
export interface IgnorePlan {
  readonly isSafe: boolean
  readonly changes: readonly Change[]
}

/** Plans the line that makes git ignore the environment file; one that git tracks cannot be ignored. */
export async function planIgnore(
  { folder, manifest }: Application,
  path: string,
  git: Git,
): Promise<IgnorePlan> {
  if (await git.isTracked(path)) return { isSafe: false, changes: [] }
  const before = await readText(folder, '.gitignore').catch(() => null)
  // Git does not follow a link, and what is no text cannot be edited.
  if (before === null) return { isSafe: await git.isIgnored(path), changes: [] }
  // A new application has no installed packages yet, which git must not track either.
  const base = before ?? (manifest ? '' : 'node_modules\n')
  const isIgnored = git.kind === 'none' ? isListedIn(before ?? '', path) : await git.isIgnored(path)
  if (isIgnored) return { isSafe: true, changes: [] }
  // At its end, where the line overrides every other.
  const text = appendLines(base, [path])
  return { isSafe: true, changes: [{ path: '.gitignore', before: before ?? null, text }] }
}

/** Plans the variables of the environment file: only those that it lacks, and none that git would track. */
export async function planVariables(
  application: Application,
  guide: Guide,
  variables: readonly Variable[],
  git: Git,
): Promise<PartialPlan> {
  const path = guide.envFile
  const before = await readText(application.folder, path)
  const missing = findMissing(before ?? '', variables)
  const kept = variables.filter((variable) => !missing.includes(variable)).map(({ name }) => name)
  const notes = kept.length === 0 ? [] : [`${path} has ${kept.join(', ')} already, which stay as they are.`]
  if (missing.length === 0) return { notes }
  const { isSafe, changes } = await planIgnore(application, path, git)
  const lines = toLines(missing)
  const reason = `Git does not ignore ${path}, so no secret is written to it. Add these lines where git does not see them:`
  if (!isSafe) return { byHand: [`${reason}\n${indent(lines.join('\n'))}`], notes }
  const change = { path, before: before ?? null, text: appendLines(before ?? '', lines), mode: 0o600 }
  return { changes: [...changes, change], notes }
}

/** Joins plans in their order. */
export const joinPlans = (plans: readonly PartialPlan[]): Plan => ({
  changes: plans.flatMap(({ changes = [] }) => changes),
  byHand: plans.flatMap(({ byHand = [] }) => byHand),
  notes: plans.flatMap(({ notes = [] }) => notes),
})
