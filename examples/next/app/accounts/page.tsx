import { isIdpError } from 'idp-client/next'
import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { connectionLabel, connections } from '../../lib/connections'
import { formatDate } from '../../lib/format'
import type { Account } from './account-list'
import { AccountList } from './account-list'

export const metadata: Metadata = { title: 'Connected accounts' }

interface Props {
  readonly searchParams: Promise<{ readonly result?: string | readonly string[] }>
}

export default idp.withPageAuthRequired(
  async function Accounts({ searchParams }: Props) {
    const { result } = await searchParams
    const accounts = await load()
    return (
      <>
        <PageHeader title="Connected accounts" kind="Account API" source="app/accounts/page.tsx">
          Let this application use an account that you have somewhere else. The provider keeps its tokens and
          hands one out when it is needed.
        </PageHeader>
        <Outcome result={result} />
        <section className="card" aria-labelledby="connect-title">
          <h2 id="connect-title">Connect an account</h2>
          <p>The provider asks you first, and brings you back here.</p>
          <p className="actions">
            {connections.map(({ name, label, scope }) => (
              <a className="button" href={connectPath(name, scope)} key={name}>
                Connect {label}
              </a>
            ))}
          </p>
        </section>
        {typeof accounts === 'string' ? (
          <section className="card" aria-label="No list">
            <p role="alert">{accounts}</p>
          </section>
        ) : (
          <AccountList accounts={accounts} />
        )}
      </>
    )
  },
  { returnTo: '/accounts' },
)

function connectPath(connection: string, scopes: string): string {
  return `/auth/connect?${new URLSearchParams({ connection, scopes, returnTo: '/accounts' })}`
}

function Outcome({ result }: { result: string | readonly string[] | undefined }) {
  if (result === 'connected') return <p role="status">The account is connected.</p>
  if (result === 'cancelled') return <p role="status">You cancelled. Nothing was connected.</p>
  if (result === 'failed') return <p role="alert">The account could not be connected. Try again.</p>
  return null
}

/** The accounts, or what to tell the visitor. */
async function load(): Promise<readonly Account[] | string> {
  try {
    const accounts = await idp.listConnectedAccounts()
    return accounts.map(({ id, connection, scopes, created_at: since }) => ({
      id,
      connection,
      label: connectionLabel(connection),
      scopes: scopes.join(', '),
      since: since === undefined ? '–' : formatDate(since),
    }))
  } catch (error) {
    if (isIdpError(error, 'FAILED_TO_LIST'))
      return 'The provider does not list your accounts right now. Try again in a moment.'
    throw error
  }
}
