import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { dirname, relative } from 'node:path/posix'
import type { Application } from './application.ts'
import { readNames, readText } from './application.ts'
import type { GuideFile } from './guides.ts'

/** The version that Node.js would load: a workspace installs it in a folder above, or as a link to one. */
function findInstalled(folder: string): string | undefined {
  try {
    const file = createRequire(join(folder, 'package.json')).resolve('next/package.json')
    return /"version":\s*"([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** The version of Next.js: the installed one, or the one that the range begins with. */
function readVersion({ folder, manifest }: Application): readonly [number, number] {
  const version = findInstalled(folder) ?? manifest?.dependencies.get('next')
  const [, major, minor] = /(\d+)(?:\.(\d+))?/.exec(version ?? '') ?? []
  return [Number(major ?? Number.POSITIVE_INFINITY), Number(minor ?? Number.POSITIVE_INFINITY)]
}

/** The guide for a version and router of Next.js: `next`, `next-15`, `next-14`, each also with `-pages`. */
export async function toNextGuide(application: Application): Promise<string> {
  const [major, minor] = readVersion(application)
  // Middleware on Node.js is stable since 15.5.
  const has15 = major === 15 && minor >= 5
  const older = has15 ? 'next-15' : 'next-14'
  const version = major >= 16 ? 'next' : older
  const folders = [...application.entries, ...(await readNames(application.folder, 'src'))]
  return folders.includes('pages') && !folders.includes('app') ? `${version}-pages` : version
}

/**
 * Fits the printed files to an application: below `src` if its pages are there, and with relative imports unless `@/` is an
 * alias of that folder.
 */
export async function fitToNext(
  files: readonly GuideFile[],
  { folder, entries }: Application,
): Promise<GuideFile[]> {
  const inSrc = await readNames(folder, 'src')
  const isRouter = (name: string): boolean => name === 'app' || name === 'pages'
  const base = !entries.some(isRouter) && inSrc.some(isRouter) ? 'src/' : ''
  const config = await readText(folder, 'tsconfig.json')
  const hasAlias = new RegExp(`"@/\\*"\\s*:\\s*\\[\\s*"(?:\\./)?${base}\\*"`).test(config ?? '')
  return files.map((file) => ({
    ...file,
    path: base + file.path,
    text: hasAlias ? file.text : withRelativeImports(file),
  }))
}

const withRelativeImports = ({ path, text }: GuideFile): string =>
  text.replaceAll(/'@\/([^']+)'/g, (_, target: string) => {
    const to = relative(dirname(path), target)
    return `'${to.startsWith('.') ? to : `./${to}`}'`
  })
