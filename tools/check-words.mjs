// Nothing that belongs to one machine or one download service may be written into the project.
import { filesBelow, lineAt, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { isMain } from './lib/run.mjs'

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

if (isMain(import.meta)) {
  const paths = filesBelow('', (path) => !unread.test(path))
  finish(
    paths.flatMap((path) => forbidden(path, readText(path))),
    `${paths.length} files`,
  )
}
