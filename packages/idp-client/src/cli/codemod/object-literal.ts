import { blank, splitList } from './code.ts'

/** A property of an object literal as it is written. */
export interface Property {
  /** Undefined for a spread or a computed key. */
  readonly name: string | undefined
  /** Undefined for methods and shorthands. */
  readonly value: string | undefined
  /** The whole property, with the comments before it. */
  readonly text: string
}

/** Where a property ends and a comment behind it begins. */
const endOfCode = (text: string): number => blank(text).trimEnd().length

function parseProperty(text: string): Property {
  const start = Math.max(blank(text).search(/\S/), 0)
  const code = text.slice(start, endOfCode(text))
  const match = /^(?:async\s+(?=[\w$]))?(?:([\w$]+)|(['"])([\w$-]+)\2)\s*(:)?/.exec(code)
  if (match === null) return { name: undefined, value: undefined, text }
  const [found, name = match[3], , , colon] = match
  return { name, value: colon === undefined ? undefined : code.slice(found.length).trim(), text }
}

/** Returns the properties of an object literal, or null if the text is something else. */
export function parseObject(text: string): Property[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null
  const chunks = splitList(text.slice(1, -1))
  // A comment at the end of a line belongs to the property before the comma.
  const parts = chunks.reduce<string[]>((all, chunk) => {
    const tail = /^[ \t]*\/\/[^\n]*(?=\n)/.exec(chunk)?.[0] ?? ''
    const last = all.length - 1
    if (tail !== '' && last >= 0) all[last] = `${all[last]}${tail}`
    all.push(chunk.slice(all.length === 0 ? 0 : tail.length))
    return all
  }, [])
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseProperty)
}

/** Writes an object literal: on lines of their own if it was so or grew, else on one line. */
export function printObject(original: string, properties: readonly string[], indent: string): string {
  if (properties.length === 0) return '{}'
  const inline = `{ ${properties.join(', ')} }`
  const hasLines = properties.some((text) => text.includes('\n') || endOfCode(text) < text.length)
  if (!original.includes('\n') && !hasLines && inline.length + indent.length <= 80) return inline
  const lines = properties.map((text) => {
    const end = endOfCode(text)
    return `${indent}  ${text.slice(0, end)},${text.slice(end)}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

/** Moves the lines of a text from one indentation to another; the first line stays. */
export function reindent(text: string, indent: string): string {
  const lines = text.split('\n')
  const last = /^\s*/.exec(lines.at(-1) ?? '')?.[0] ?? ''
  return lines
    .map((line, number) => (number > 0 && line.startsWith(last) ? indent + line.slice(last.length) : line))
    .join('\n')
}
