// Relative links must lead to a file and, if they name one, to a heading. The files that the architecture page names must
// exist.
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { findAnchors, findLinks, findSourcePaths } from './lib/markdown.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

/** Returns what is wrong with a relative link of a page, or `null`. */
export function linkProblem(page, text, to) {
  const [file, anchor] = to.split('#')
  const path = file === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(file))
  if (path.startsWith('..') || !existsSync(fromRoot(path))) return `links to ${to}, which does not exist`
  if (!anchor || !path.endsWith('.md')) return null
  const anchors = findAnchors(path === page ? text : readText(path))
  return anchors.includes(anchor) ? null : `links to ${to}: ${path} has no such heading`
}

const ARCHITECTURE = 'docs/architecture.md'
const SOURCE = 'packages/idp-client/src'

/** Problems of the paths in backticks on a page, which are below the source folder. `exists` gets the whole path. */
export function pathProblems(page, text, exists) {
  return findSourcePaths(text)
    .filter(({ path }) => !exists(posix.join(SOURCE, path)))
    .map(({ line, path }) => `${page}:${line} names ${path}, which does not exist below ${SOURCE}`)
}

if (isMain(import.meta)) {
  const pages = filesBelow('', (path) => path.endsWith('.md'))
  const problems = pages.flatMap((page) => {
    const text = readText(page)
    return findLinks(text).flatMap(({ line, to }) => {
      const problem = /^(?:[a-z]+:|\/\/)/i.test(to) ? null : linkProblem(page, text, to)
      return problem ? [`${page}:${line} ${problem}`] : []
    })
  })
  problems.push(...pathProblems(ARCHITECTURE, readText(ARCHITECTURE), (path) => existsSync(fromRoot(path))))
  finish(problems, `${pages.length} pages`)
}
