// Relative links must lead to a file and, if they name one, to a heading; every guide is linked from some page. The files
// that the architecture page names must exist.
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { findAnchors, findLinks, findSourcePaths } from './lib/markdown.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

function resolveTarget(page, to) {
  const [file] = to.split('#')
  return file === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(file))
}

function linkProblem(page, text, to) {
  const path = resolveTarget(page, to)
  const anchor = to.split('#')[1]
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
  const links = pages.flatMap((page) => {
    const text = readText(page)
    const relative = findLinks(text).filter(({ to }) => !/^(?:[a-z]+:|\/\/)/i.test(to))
    return relative.map(({ to, line }) => ({
      page,
      line,
      path: resolveTarget(page, to),
      problem: linkProblem(page, text, to),
    }))
  })
  const fromDocs = links.filter(({ page }) => page.startsWith('docs/') || page.endsWith('README.md'))
  const linked = new Set(fromDocs.map(({ path }) => path))
  const guides = pages.filter((path) => /^docs\/(?:guides|reference|migration)\//.test(path))
  const problems = [
    ...links
      .filter(({ problem }) => problem !== null)
      .map(({ page, line, problem }) => `${page}:${line} ${problem}`),
    ...pathProblems(ARCHITECTURE, readText(ARCHITECTURE), (path) => existsSync(fromRoot(path))),
    ...guides.filter((path) => !linked.has(path)).map((path) => `${path}:1 no page links to it`),
  ]
  finish(problems, `${links.length} links on ${pages.length} pages`)
}
