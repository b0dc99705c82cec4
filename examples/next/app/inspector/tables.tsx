import type { ReactNode } from 'react'
import { formatNumber, formatTime } from '../../lib/format'
import type { ClaimRow, CookieRow, TokenRow } from '../../lib/inspect'

/** Default of `session.cookie.maxBytes`: the limit for all session cookies together. */
const cookieBudget = 7000

export function ClaimsTable({ rows }: { rows: readonly ClaimRow[] }) {
  return (
    <TableCard title="Claims" columns={['Claim', 'Value']}>
      {rows.map(({ name, value }) => (
        <tr key={name}>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td>
            <bdi>{value}</bdi>
          </td>
        </tr>
      ))}
    </TableCard>
  )
}

export function TokensTable({ rows }: { rows: readonly TokenRow[] }) {
  return (
    <TableCard title="Tokens" columns={['Token', 'Format', 'Characters', 'Expires', 'Details']}>
      {rows.map(({ name, format, length, expiresAt, note }) => (
        <tr key={`${name} ${note}`}>
          <th scope="row">{name}</th>
          <td data-label="Format">{format}</td>
          <td data-label="Characters">{formatNumber(length)}</td>
          <td data-label="Expires">{expiresAt === undefined ? '–' : formatTime(expiresAt)}</td>
          <td data-label="Details">{note ?? '–'}</td>
        </tr>
      ))}
    </TableCard>
  )
}

export function CookiesTable({ rows }: { rows: readonly CookieRow[] }) {
  const total = rows.reduce((sum, { bytes }) => sum + bytes, 0)
  return (
    <TableCard title="Session cookies" columns={['Cookie', 'Size']}>
      {rows.map(({ name, bytes }) => (
        <tr key={name}>
          <th scope="row">
            <code>{name}</code>
          </th>
          <td>{formatNumber(bytes)} bytes</td>
        </tr>
      ))}
      <tr>
        <th scope="row">Total</th>
        <td>
          {formatNumber(total)} of {formatNumber(cookieBudget)} bytes
          <meter aria-label="Used part of the cookie budget" max={cookieBudget} value={total} />
        </td>
      </tr>
    </TableCard>
  )
}

interface TableCardProps {
  readonly title: string
  readonly columns: readonly string[]
  readonly children: ReactNode
}

function TableCard({ title, columns, children }: TableCardProps) {
  return (
    <section className="card">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}
