// node tools/generate-llms.mjs: writes llms.txt, the list of all pages and what each is for, from README.md.
import { writeFileSync } from 'node:fs'
import { filesBelow, readText } from './lib/files.mjs'
import { findLinks } from './lib/markdown.mjs'
import { parseRows } from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

const file = 'llms.txt'

const head = `# idp-client

> OpenID Connect client for server-side TypeScript: login, encrypted sessions, tokens and route protection for Next.js,
> Express and every host with Web Request and Response. Paths are relative to the root of the repository.

Start with [README.md](README.md). Every ts and tsx snippet of these pages is compiled by the tests.
`

/** The groups of the section "Documentation" of README.md as text: a heading, and a line for each page. */
function toSections(readme) {
  const section = readme.split('\n## Documentation\n')[1]?.split('\n## ')[0] ?? ''
  return section
    .split('\n### ')
    .slice(1)
    .map((group) => {
      const lines = parseRows(group).flatMap(({ cells }) => {
        const [need, pages] = Object.values(cells)
        return findLinks(pages)
          .filter(({ to }) => to.endsWith('.md'))
          .map(({ to }) => `- [${/^# (.+)$/m.exec(readText(to))?.[1]}](${to}): ${need}`)
      })
      return `## ${group.slice(0, group.indexOf('\n'))}\n\n${lines.join('\n')}\n`
    })
}

const llmsText = () => [head, ...toSections(readText('README.md'))].join('\n')

/** Returns the problems of the file: out of date, or a page that README.md does not name. */
export function llmsProblems() {
  const text = llmsText()
  const isPage = (path) => /^docs\/(?:(?:guides|reference|migration)\/.+|[^/]+)\.md$/.test(path)
  return [
    ...(readText(file) === text ? [] : [`${file} is not up to date: run node tools/generate-llms.mjs`]),
    ...filesBelow('docs', isPage)
      .filter((path) => !text.includes(`](${path})`))
      .map((path) => `README.md names ${path} in no table of its section Documentation`),
  ]
}

if (isMain(import.meta)) {
  writeFileSync(fromRoot(file), llmsText())
  console.log(file)
}
