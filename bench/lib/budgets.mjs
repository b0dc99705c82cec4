// Limits for rows of the tables, and the reasons where they are exceeded.

/**
 * @typedef {object} Budget
 * @property {string} table title
 * @property {string} row name, with the work after a comma
 * @property {number} most
 * @property {string} [column] of a table of counts; otherwise the ratio counts
 * @property {string} [of] the row whose value is one; otherwise the floor or base of the table
 * @property {string} [why] the reason why it is missed, with the profile that shows it; written by hand
 */

const nextWithSession =
  'by CPU profiles of the server, the functions of the library take 13 % of the time of a route and 8 % of a page, most of it for ' +
  'decrypting and reading the head of the session. In a process that does nothing else they take a fifth of that: Next.js runs one ' +
  'to four milliseconds of other code between two calls.'

/** @type {readonly Budget[]} */
const budgets = [
  {
    table: 'getSession(NextRequest)',
    row: 'idp-client',
    most: 1,
    why:
      'the floor finds its cookie by one search and parses no claims of an ID token. The profile: parsing the Cookie header 1 µs, ' +
      'inflating and parsing the claims of the user 4 µs, the copy for the application 2 µs, decrypting less than the floor.',
  },
  {
    table: 'getSession(Request)',
    row: 'idp-client',
    most: 1.2,
    why: 'as with NextRequest, beside a request object that costs half.',
  },
  { table: 'Middleware, page with a session', row: 'idp-client', most: 1.2 },
  { table: 'Middleware, API with a session', row: 'idp-client', most: 1.2 },
  { table: 'Middleware, anonymous page', row: 'idp-client', most: 1.7 },
  {
    table: 'Middleware, anonymous API',
    row: 'idp-client',
    most: 1.1,
    why: 'it takes about 1 µs more than the floor, for the choice of the route and the search for a session cookie; by CPU time the ratio was 1.06 and 1.08 in the last two runs.',
  },
  { table: 'Middleware, anonymous API', row: 'idp-client', most: 1, of: 'nextjs-auth0' },
  { table: 'Middleware, anonymous API, 12 cookies of others', row: 'idp-client', most: 1.1 },
  {
    table: 'Page: middleware, getSession, getAccessToken',
    row: 'idp-client',
    most: 1.2,
    why:
      'the middleware forwards the path of the page, for which every request header is written once more (7 µs), and the second ' +
      'request inflates all claims and encodes the tokens again (7 µs).',
  },
  {
    table: 'Memory store: getSession',
    row: 'idp-client',
    most: 1.2,
    why:
      'the session key in the cookie is encrypted (7 µs; an HMAC takes 3), and records are stored by its hash (2 µs), which the ' +
      'library checks with the rest of the record.',
  },
  {
    table: 'Memory store: middleware with a session',
    row: 'idp-client',
    most: 1.2,
    why: 'as for getSession.',
  },
  { table: 'Login and callback', row: 'idp-client, Next.js', most: 0.65, of: 'nextjs-auth0, Next.js' },
  {
    table: 'Login and callback',
    row: 'idp-client, Next.js',
    most: 2.4,
    why:
      'the floor has no encrypted state, no single use of callbacks, no time and size limits for responses, and no compression. The ' +
      'profile: encryption and hashes 82 µs, garbage collection 71, cookies 45, compression 35, verification of the signature 32, ' +
      'time and size limits 30, oauth4webapi 28, the rest below 20 each; NextResponse adds 70.',
  },
  {
    table: 'Express 5, with a session',
    row: 'idp-client, session read',
    most: 1.5,
    why:
      'decrypting takes about 10 of the 95 µs. By a profile without a connection, most of the rest is garbage collection and the ' +
      'hooks that Node.js 20 calls for every promise once AsyncLocalStorage is used.',
  },
  {
    table: 'Next.js route handler, with a session',
    row: 'idp-client',
    most: 1.03,
    why: nextWithSession,
  },
  {
    table: 'Next.js route handler, anonymous',
    row: 'idp-client',
    most: 1.01,
    why:
      'by a CPU profile of the server, the functions of the library take 6 of 1900 µs, 0.3 %. Two processes of the empty proxy differ ' +
      'by up to 9 % (the row "second process"), so that the budget cannot be shown to be met.',
  },
  {
    table: 'Next.js page, with a session',
    row: 'idp-client',
    most: 1.06,
    why: nextWithSession,
  },
  {
    table: 'Cookies and requests of a login',
    row: 'idp-client',
    column: 'cookie bytes',
    most: 0.42,
    of: 'nextjs-auth0',
  },
  {
    table: 'Import and bundle',
    row: 'idp-client, Web',
    column: 'import, ms',
    most: 15,
    why:
      'the first import of any package in a process takes Node.js 5 ms (cookie-es alone: 4.6); after one, this import takes as long ' +
      'as that of Express: 14.6 and 13.2 ms. By a profile, V8 compiles the sources in 4 to 5 ms, the code of their top level takes ' +
      '1.3, and the rest is the loader and garbage collection. Minified sources would save 1 ms.',
  },
  {
    table: 'Bundle for Workers',
    row: 'idp-client/edge, no further features',
    column: 'bundle, kB gzip',
    most: 60,
    why:
      'protocol 13.5 kB, configuration and its messages 12, routes and pages 9, cookies and compression 9, callback and login 7, ' +
      'refresh 6.7, errors 4.9, guards 2.7, oauth4webapi 2.5. Everything that could still be split off is about 8 kB.',
  },
  {
    table: 'Bundle for Workers',
    row: 'idp-client/edge, with dpop and fetcher',
    column: 'bundle, kB gzip',
    most: 65,
    why: 'as without features; the two add 5.8 kB.',
  },
  { table: 'Further tokens: open a session cookie', row: 'idp-client, 100 tokens', most: 1.5 },
  {
    table: 'Further tokens: seal a session cookie',
    row: 'idp-client, 100 tokens',
    most: 1.5,
    why: 'scope, audience and expiry of every token are compressed, 2.5 µs each.',
  },
]

export const toName = ({ name, work }) => (work ? `${name}, ${work}` : name)

function toVerdict({ most }, { high, low, value }) {
  if ((high ?? value) <= most) return 'met'
  return (low ?? value) > most ? 'missed' : 'within the spread'
}

/** The value that a budget limits. Of whole servers also its quartiles, which both have to be on one side of the budget. */
function toMeasured({ column = 'ratio', of }, table, row) {
  const base = of ? table.rows.find((each) => toName(each) === of)[column] : 1
  const value = row[column] / base
  return table.kind === 'servers' ? { value, low: row.low, high: row.high } : { value }
}

const concerns = (budget, table, row) => budget.table === table.title && budget.row === toName(row)

/** Budgets of a row, each as a text for its cell and, if it is missed, a sentence with the reason. */
export function readBudgets(table, row) {
  return budgets
    .filter((budget) => concerns(budget, table, row))
    .map((budget) => {
      const measured = toMeasured(budget, table, row)
      const verdict = toVerdict(budget, measured)
      const limit = `≤ ${budget.most}${budget.of ? ` × ${budget.of}` : ''}`
      const value = budget.of ? ` ${measured.value.toFixed(2)},` : ''
      const why = budget.why ?? 'the reason is not yet known.'
      return {
        text: `${limit}:${value} ${verdict}`,
        note: verdict === 'missed' ? `${toName(row)} misses ${limit}: ${why}` : null,
      }
    })
}

/** Tables and rows of budgets that no table of a complete run has: they were renamed. */
export const findUnusedBudgets = (tables) =>
  budgets
    .filter((budget) => !tables.some((table) => table.rows?.some((row) => concerns(budget, table, row))))
    .map(({ row, table }) => `${table}: ${row}`)
