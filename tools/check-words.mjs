// Checks what is written: nothing that belongs to one machine or download service, and no phrase of tools/rules/words.mjs.
import { createRequire } from 'node:module'
import { TextlintKernel } from '@textlint/kernel'
import { parseSync, Visitor } from 'rolldown/utils'
import terminology from 'textlint-rule-terminology'
import { filesBelow, lineAt, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { isMain } from './lib/run.mjs'
import { foreignNames, openings, phrases } from './rules/words.mjs'

/** Pictures, keys of tests, and what a compiler keeps for itself. */
const unread = /\.(?:png|jpe?g|gif|ico|woff2?|pem|tgz|tsbuildinfo)$/

const rules = [
  {
    what: 'an absolute path of a machine',
    pattern: /(?<![\w.~$}-])\/(?:home|root|work|Users|tmp)\/[\w.-]+/g,
  },
  { what: 'a package registry', pattern: /\bregistry\.[a-z0-9-]+\.[a-z]{2,}\b/gi },
  { what: 'a private key', pattern: /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/g },
]

/** Findings in one text, as `path:line message`. */
export function forbidden(path, text) {
  return rules.flatMap(({ what, pattern }) =>
    [...text.matchAll(pattern)].map((match) => `${path}:${lineAt(text, match.index)} names ${what}`),
  )
}

const kernel = new TextlintKernel()
const { default: markdown } = createRequire(import.meta.url)('@textlint/textlint-plugin-markdown')

// Inside a comment a line may begin with asterisks or slashes.
const toPattern = (phrase) => `(?<![\\w-])(?:${phrase.replaceAll(' ', '[\\s*/]+')})(?![\\w-])`
const terms = phrases.map(([phrase, instead]) => [toPattern(phrase), instead])
const termsOfNames = phrases.map(([phrase, instead]) => [new RegExp(`\\b(?:${phrase})\\b`, 'i'), instead])
const firstWords = openings.map(([word, instead]) => [`(?<=^[\\s*/]+)(?:${word})(?![\\w-])`, instead])

/** Phrases in the prose of a Markdown page; code is left out. */
export async function phrasesInPage(path, text) {
  const { messages } = await kernel.lintText(text, {
    ext: '.md',
    filePath: path,
    plugins: [{ pluginId: 'markdown', plugin: markdown }],
    rules: [{ ruleId: 'terminology', rule: terminology, options: { defaultTerms: false, skip: [], terms } }],
  })
  return messages.map(({ line, message }) => `${path}:${line} ${message}`)
}

/** The words of a name such as `toSessionKey` or `MAX_AGE`. */
const toWords = (name) => name.replace(/([a-z\d])(?=[A-Z])/g, '$1 ').replace(/[_$]+/g, ' ')

/** Phrases in the comments of a module, in its strings of several words, and in its names. */
export function phrasesInModule(path, text) {
  const { comments, names, strings } = extractProse(path, text)
  const report = (start, found, instead) =>
    `${path}:${lineAt(text, start)} Incorrect term: “${found}”, use “${instead}” instead`
  const find = (ranges, list) =>
    ranges.flatMap(([start, end]) =>
      list.flatMap(([pattern, instead]) =>
        [...text.slice(start, end).matchAll(new RegExp(pattern, 'gi'))].map(({ 0: found, index }) =>
          report(start + index, found.replace(/\s+/g, ' '), instead),
        ),
      ),
    )
  const inNames = [...names].flatMap(([name, start]) =>
    termsOfNames.flatMap(([pattern, instead]) =>
      pattern.test(toWords(name)) && !foreignNames.includes(name) ? [report(start, name, instead)] : [],
    ),
  )
  return [...find([...comments, ...strings], terms), ...find(comments, firstWords), ...inNames]
}

/** Start and end of each comment and string, and the start of each name; line comments that follow each other are one comment. */
function extractProse(path, text) {
  const { comments, errors, program } = parseSync(path, text, path.endsWith('.js') ? { lang: 'jsx' } : {})
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const joined = []
  for (const { start, end, type } of comments) {
    const last = joined.at(-1)
    if (type === 'Line' && last?.type === type && text.slice(last.end, start).trim() === '') last.end = end
    else joined.push({ start, end, type })
  }
  const strings = []
  const add = ({ start, end }) => {
    if (text.slice(start, end).includes(' ')) strings.push([start, end])
  }
  const names = new Map()
  const addName = ({ name, start }) => names.has(name) || names.set(name, start)
  new Visitor({
    Identifier: addName,
    PrivateIdentifier: addName,
    Literal: (node) => {
      if (typeof node.value === 'string') add(node)
    },
    TemplateElement: add,
    JSXText: add,
  }).visit(program)
  return { comments: joined.map(({ start, end }) => [start, end]), names, strings }
}

if (isMain(import.meta)) {
  const problems = []
  const paths = filesBelow('', (path) => !unread.test(path))
  for (const path of paths) {
    const text = readText(path)
    problems.push(...forbidden(path, text))
    if (path.endsWith('.md')) problems.push(...(await phrasesInPage(path, text)))
    else if (/\.[cm]?[jt]sx?$/.test(path) && path !== 'tools/rules/words.mjs')
      problems.push(...phrasesInModule(path, text))
  }
  finish(problems, `${paths.length} files`)
}
