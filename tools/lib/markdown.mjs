import { lineAt } from './files.mjs'

/**
 * Fenced code blocks of a Markdown text.
 *
 * @returns {{ language: string, info: string, code: string, line: number }[]} `line` is that of the
 *   first line of code
 */
export function parseFences(text) {
  const fences = []
  let open = null
  for (const [index, line] of text.split('\n').entries()) {
    const mark = /^(\s*)(`{3,}|~{3,})\s*(\S*)\s*(.*)$/.exec(line)
    if (open === null && mark) {
      open = {
        indent: mark[1].length,
        mark: mark[2],
        language: mark[3],
        info: mark[4],
        lines: [],
        line: index + 2,
      }
    } else if (open !== null && mark?.[2].startsWith(open.mark) && mark[3] === '') {
      const { language, info, lines } = open
      fences.push({ language, info, line: open.line, code: lines.join('\n') })
      open = null
    } else open?.lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)))
  }
  return fences
}

const blank = (text) => text.replace(/[^\n]/g, ' ')

/** The text with spaces in place of fenced code, so that offsets stay. */
const withoutFences = (text) => text.replace(/^ *(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\1.*$/gm, blank)

/** Targets of inline links and images outside code, with their line. */
export function findLinks(text) {
  const plain = withoutFences(text).replace(/`[^`\n]*`/g, blank)
  const links = plain.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)
  return [...links].map(({ 1: to, index }) => ({ to, line: lineAt(text, index) }))
}

/** Paths of folders and of source files in backticks outside fences (`lib/`, `http/chunks.ts`), with their line. */
export const findSourcePaths = (text) =>
  [...withoutFences(text).matchAll(/`([\w./-]+(?:\.tsx?|\/))`/g)].map(({ 1: path, index }) => ({
    path,
    line: lineAt(text, index),
  }))

/** The headings of a page: their titles, the number of their hashes, and where they begin and end. */
const findHeadings = (text) =>
  [...withoutFences(text).matchAll(/^(#{1,6})[ \t]+(.*?)[ \t]*#*$/gm)].map(
    ({ 0: line, 1: hashes, 2: title, index }) => ({
      title,
      level: hashes.length,
      start: index,
      end: index + line.length,
    }),
  )

/** The anchor of a heading, by the rule of the common renderers; a second one with the same title gets a number. */
export const toAnchor = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

/** The anchors of the headings of a page. */
export function findAnchors(text) {
  const counts = new Map()
  return findHeadings(text).map(({ title }) => {
    const anchor = toAnchor(title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}

/**
 * The text below a heading, down to the next heading of the same or a higher level.
 *
 * @throws when there is no such heading
 */
export function findSection(text, heading) {
  const headings = findHeadings(text)
  const found = headings.find(({ title }) => title === heading)
  if (!found) throw new Error(`no heading "${heading}"`)
  const next = headings.find(({ level, start }) => start > found.start && level <= found.level)
  return text.slice(found.end + 1, next?.start)
}

/**
 * The steps of a section, in order: run the commands of a shell block, write the file that the first
 * line of a code block names.
 *
 * @returns {({ kind: 'run', commands: string } | { kind: 'file', path: string, text: string })[]}
 */
export function parseSteps(section) {
  return parseFences(section).flatMap(({ language, code }) => {
    if (language === 'sh') return [{ kind: 'run', commands: code }]
    const path = /^\/\/ file: (\S+)/.exec(code)?.[1]
    return path === undefined ? [] : [{ kind: 'file', path, text: `${code}\n` }]
  })
}
