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

/** Most of what a session cookie costs beyond the floor, by a profile of `getSession`. */
const readsAll =
  'of a session cookie it inflates the claims (6 µs), builds the strings of the tokens (4 µs), and getSession copies it for the ' +
  'application (1 µs); the cookie of the floor is not compressed, and has 2.7 times the size.'

/** @type {readonly Budget[]} */
const budgets = [
  {
    table: 'Open a session cookie',
    row: 'idp-client',
    most: 1.25,
    why: 'it inflates and parses the claims of the user, which takes 4 µs; the cookie of the floor is not compressed, and has 2.7 times the size.',
  },
  { table: 'Seal a session cookie', row: 'idp-client', most: 2 },
  { table: 'getSession(NextRequest)', row: 'idp-client', most: 1.25, why: readsAll },
  { table: 'getSession(Request)', row: 'idp-client', most: 1.5, why: readsAll },
  { table: 'Middleware, page with a session', row: 'idp-client', most: 1.35, why: readsAll },
  { table: 'Middleware, API with a session', row: 'idp-client', most: 1.25, why: readsAll },
  { table: 'Middleware, anonymous page', row: 'idp-client', most: 1.25 },
  { table: 'Middleware, anonymous page', row: 'idp-client', most: 1.1, of: 'nextjs-auth0' },
  { table: 'Middleware, anonymous API', row: 'idp-client', most: 1.25 },
  { table: 'Page: middleware, getSession, getAccessToken', row: 'idp-client', most: 1.45 },
  {
    table: 'Memory store: getSession',
    row: 'idp-client',
    most: 1.9,
    why:
      'it decrypts the key in the cookie, which takes 8 µs more than to compare its HMAC, hashes the key for the store (4 µs), and ' +
      'copies the record for itself and for the application (3 µs).',
  },
  {
    table: 'Login and callback',
    row: 'idp-client, Next.js',
    most: 0.5,
    of: 'nextjs-auth0, Next.js',
    why: 'it verifies the signature of the ID token, which takes 50 to 110 µs in the thread of Web Crypto; nextjs-auth0 does not verify it.',
  },
  { table: 'Verify an access token', row: 'idp-client', most: 1.15 },
  { table: 'Access token of an API, with a DPoP proof', row: 'idp-client', most: 1.15 },
  { table: 'Sign an authorization request', row: 'idp-client', most: 1.15 },
  { table: 'Sign a client assertion', row: 'idp-client', most: 1.15 },
  { table: 'Proxy, GET', row: 'idp-client', most: 1.15 },
  { table: 'Proxy, POST of 1 kB', row: 'idp-client', most: 1.15 },
  {
    table: 'Express 5, with a session',
    row: 'idp-client, session read',
    most: 1.5,
    why: 'it opens the session, and copies it for the application; the base is an application that does nothing.',
  },
  {
    table: 'Cookies and requests of a login',
    row: 'idp-client',
    column: 'cookie bytes',
    most: 0.42,
    of: 'nextjs-auth0',
  },
  { table: 'Import and bundle', row: 'idp-client, Web', column: 'import, ms', most: 35 },
  {
    table: 'Further tokens: open a session cookie',
    row: 'idp-client, 100 tokens',
    most: 1.5,
    why: 'it joins every token from its compressed and its secret parts.',
  },
]

export const toName = ({ name, work }) => (work ? `${name}, ${work}` : name)

/** The values that a budget limits: a count, or the ratio on each version of Node.js. */
function toValues({ column, of }, table, row) {
  const read = (each) => (column ? [each[column]] : each.ratios.map(({ ratio }) => ratio))
  const base = of && read(table.rows.find((each) => toName(each) === of))
  return read(row).map((value, index) => value / (base ? base[index] : 1))
}

/** Comparisons of two builds lack the other libraries. */
const concerns = ({ of, row: name, table: title }, table, row) =>
  title === table.title && name === toName(row) && (!of || table.rows.some((each) => toName(each) === of))

/** Budgets of a row, each as a text for its cell and, if it is missed, a sentence with the reason. */
export function readBudgets(table, row) {
  return budgets
    .filter((budget) => concerns(budget, table, row))
    .map((budget) => {
      const values = toValues(budget, table, row)
      const isMet = values.every((value) => value <= budget.most)
      const limit = `≤ ${budget.most}${budget.of ? ` × ${budget.of}` : ''}`
      const shown = budget.of ? ` ${values.map((value) => value.toFixed(2)).join(', ')}:` : ''
      const why = budget.why ?? 'the reason is not yet known.'
      return {
        text: `${limit}:${shown} ${isMet ? 'met' : 'missed'}`,
        note: isMet ? null : `${toName(row)} misses ${limit}: ${why}`,
      }
    })
}

/** Tables and rows of budgets that no table of a complete run has: they were renamed. */
export const findUnusedBudgets = (tables) =>
  budgets
    .filter((budget) => !tables.some((table) => table.rows?.some((row) => concerns(budget, table, row))))
    .map(({ row, table }) => `${table}: ${row}`)
