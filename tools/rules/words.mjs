/**
 * Phrases that are not written in documentation, comments, test titles and messages, each with what to write instead. They
 * are regular expressions; case does not matter, and a space also matches a line break.
 */
export const phrases = [
  ['whoever|whomever', 'everyone who, the caller'],
  ['somebody', 'a user, a caller'],
  ['visitors?', 'user, browser'],
  ['(?<!there )(?:is|are|was|were) none', 'is not one, does not exist'],
  [
    '(?<!there )(?:is|was) no (?:dependency|integer|list|member|option|page|session|string|token|URI|URL)',
    'is not a',
  ],
  ['(?:goes|go|went|going) on', 'continue'],
  ['not to be had', 'not available'],
  ['keeps? nobody', 'block no user'],
  ['for so long', 'for that time, so long ago'],
  ['(?<!not )all the same', 'anyway'],
  ['without further ado', 'by default'],
  ['whole numbers?', 'integer'],
  ['cures?', 'fix, remedy'],
  ['hears? of', 'receive, be notified of'],
  ['obeys?|obeyed', 'process, apply'],
  ['answer(?:s|ed|ing)?', 'response, respond'],
  ['leases?', 'lock'],
  ['persons?', 'user'],
  ['on (?:its|their) way', 'pending'],
  ['asked for', 'requested'],
]

/** Names that other packages export. */
export const foreignNames = ['Visitor']

/** How a comment does not begin: its first sentence says what a function does or returns, or what a value is. */
export const openings = [
  ['What', 'Returns …, The …'],
  ['Who(?:ever|se)?', 'The user who …'],
]
