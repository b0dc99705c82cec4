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

/** Targets of inline links and images outside code, with their line. */
export function findLinks(text) {
  let fenced = false
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) fenced = !fenced
    if (fenced) return []
    const plain = line.replace(/`[^`]*`/g, '')
    return [...plain.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].map((match) => ({
      to: match[1],
      line: index + 1,
    }))
  })
}

/** Paths of folders and of source files in backticks outside fences (`lib/`, `http/chunks.ts`), with their line. */
export function findSourcePaths(text) {
  let fenced = false
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) fenced = !fenced
    if (fenced) return []
    return [...line.matchAll(/`([\w./-]+(?:\.tsx?|\/))`/g)].map((match) => ({
      path: match[1],
      line: index + 1,
    }))
  })
}

/** Anchor that a heading gets: the rule of the common renderers. */
export function findAnchors(text) {
  let fenced = false
  const counts = new Map()
  return text.split('\n').flatMap((line) => {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) fenced = !fenced
    const heading = fenced ? null : /^#{1,6}\s+(.*?)\s*#*$/.exec(line)
    if (heading === null) return []
    const slug = heading[1]
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return [count === 0 ? slug : `${slug}-${count}`]
  })
}

/**
 * The text below a heading, down to the next heading of the same or a higher level.
 *
 * @throws when there is no such heading
 */
export function findSection(text, heading) {
  const lines = text.split('\n')
  const levels = headingLevels(lines)
  const start = lines.findIndex((line, index) => levels[index] > 0 && line.replace(/^#+\s+/, '') === heading)
  if (start < 0) throw new Error(`no heading "${heading}"`)
  const end = levels.findIndex((level, index) => index > start && level > 0 && level <= levels[start])
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n')
}

/** The heading level of each line, or 0: a comment in a shell block is not a heading. */
function headingLevels(lines) {
  let fenced = false
  return lines.map((line) => {
    if (/^\s*(?:`{3,}|~{3,})/.test(line)) fenced = !fenced
    return fenced ? 0 : (/^(#{1,6})\s/.exec(line)?.[1].length ?? 0)
  })
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
