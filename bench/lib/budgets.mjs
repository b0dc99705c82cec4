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

/** @type {readonly Budget[]} */
const budgets = [
  { table: 'getSession(NextRequest)', row: 'idp-client', most: 1 },
  { table: 'getSession(Request)', row: 'idp-client', most: 1.2 },
  { table: 'Middleware, page with a session', row: 'idp-client', most: 1.2 },
  { table: 'Middleware, API with a session', row: 'idp-client', most: 1.2 },
  { table: 'Middleware, anonymous page', row: 'idp-client', most: 1.7 },
  { table: 'Middleware, anonymous API', row: 'idp-client', most: 1.1 },
  { table: 'Middleware, anonymous API', row: 'idp-client', most: 1, of: 'nextjs-auth0' },
  { table: 'Middleware, anonymous API, 12 cookies of others', row: 'idp-client', most: 1.1 },
  { table: 'Page: middleware, getSession, getAccessToken', row: 'idp-client', most: 1.2 },
  { table: 'Memory store: getSession', row: 'idp-client', most: 1.2 },
  { table: 'Memory store: middleware with a session', row: 'idp-client', most: 1.2 },
  { table: 'Login and callback', row: 'idp-client, Next.js', most: 0.65, of: 'nextjs-auth0, Next.js' },
  { table: 'Login and callback', row: 'idp-client, Next.js', most: 2.4 },
  { table: 'Express 5, with a session', row: 'idp-client, session read', most: 1.5 },
  { table: 'Next.js route handler, with a session', row: 'idp-client', most: 1.03 },
  { table: 'Next.js route handler, anonymous', row: 'idp-client', most: 1.01 },
  { table: 'Next.js page, with a session', row: 'idp-client', most: 1.06 },
  {
    table: 'Cookies and requests of a login',
    row: 'idp-client',
    column: 'cookie bytes',
    most: 0.42,
    of: 'nextjs-auth0',
  },
  { table: 'Import and bundle', row: 'idp-client, Web', column: 'import, ms', most: 15 },
  {
    table: 'Bundle for Workers',
    row: 'idp-client/edge, no further features',
    column: 'bundle, kB gzip',
    most: 60,
  },
  {
    table: 'Bundle for Workers',
    row: 'idp-client/edge, with dpop and fetcher',
    column: 'bundle, kB gzip',
    most: 65,
  },
  { table: 'Further tokens: open a session cookie', row: 'idp-client, 100 tokens', most: 1.5 },
  { table: 'Further tokens: seal a session cookie', row: 'idp-client, 100 tokens', most: 1.5 },
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
