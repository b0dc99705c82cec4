// Relative links of the documentation must lead to a file and, if they name one, to a heading.
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { anchorsOf, linksOf } from './lib/markdown.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

function linkProblem(page, text, to) {
  const [file, anchor] = to.split('#')
  const path = file === '' ? page : posix.normalize(posix.join(posix.dirname(page), decodeURIComponent(file)))
  if (path.startsWith('..') || !existsSync(fromRoot(path))) return `links to ${to}, which does not exist`
  if (!anchor || !path.endsWith('.md')) return null
  const anchors = anchorsOf(path === page ? text : readText(path))
  return anchors.includes(anchor) ? null : `links to ${to}: ${path} has no such heading`
}

if (isMain(import.meta)) {
  const pages = filesBelow('', (path) => path.endsWith('.md'))
  const problems = []
  let count = 0
  for (const page of pages) {
    const text = readText(page)
    for (const { to, line } of linksOf(text)) {
      if (/^(?:[a-z]+:|\/\/)/i.test(to)) continue
      count += 1
      const problem = linkProblem(page, text, to)
      if (problem !== null) problems.push(`${page}:${line} ${problem}`)
    }
  }
  finish(problems, `${count} links on ${pages.length} pages`)
}
