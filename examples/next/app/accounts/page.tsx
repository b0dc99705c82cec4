import { isIdpError } from 'idp-client/next'
import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
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

const files = ['app/accounts/page.tsx', 'app/accounts/actions.ts']

export default function AccountsPage(props: Props) {
  return (
    <>
      <PageHeader title="Connected accounts" kind="Account API" code={<Code files={files} />}>
        Let this application use an account that you have at another provider. The identity provider stores
        its tokens and issues one when the application needs it.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Accounts {...props} />
      </Suspense>
    </>
  )
}

const Accounts = idp.withPageAuthRequired(
  async function Accounts({ searchParams }: Props) {
    const { result } = await searchParams
    const accounts = await load()
    return (
      <>
        <Outcome result={result} />
        <section className="card" aria-labelledby="connect-title">
          <h2 id="connect-title">Connect an account</h2>
          <p>The provider asks for your consent and sends you back here.</p>
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
  if (result === 'cancelled') return <p role="status">You cancelled. No account was connected.</p>
  if (result === 'failed') return <p role="alert">The account could not be connected. Try again.</p>
  return null
}

/** Returns the accounts, or a message for the user. */
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
      return 'The provider could not list your accounts. Try again in a moment.'
    throw error
  }
}
