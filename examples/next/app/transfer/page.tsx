import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { account, bank } from '../../lib/bank'
import { boundTokens } from '../../lib/bound-tokens'
import { formatMinute, formatPrice } from '../../lib/format'
import { inboxUrl } from '../../lib/inbox'
import { getBalance } from '../../lib/ledger'
import { TransferForm } from './transfer-form'

export const metadata: Metadata = { title: 'Transfer money' }

interface Props {
  readonly searchParams: Promise<Readonly<Record<string, string | readonly string[] | undefined>>>
}

const files = [
  'app/transfer/actions.ts',
  'app/transfer/ways.ts',
  'app/transfer/use-second-factor.ts',
  'app/api/transfers/route.ts',
]

export default function TransferPage(props: Props) {
  return (
    <>
      <PageHeader title="Transfer money" kind="Second factor" code={<Code files={files} />}>
        Transfers require a second factor that you have used recently, such as a code from an app. You can
        confirm a transfer in three ways.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Transfer {...props} />
      </Suspense>
    </>
  )
}

const Transfer = idp.withPageAuthRequired(async function Transfer({ searchParams }: Props) {
  const session = await idp.getSession()
  if (!session) return null
  const { payee, amount, way } = await searchParams
  const token = session.accessTokens?.find(({ audience }) => audience === bank.audience)
  const initial = { payee: text(payee), amount: text(amount), way: text(way) }
  return (
    <>
      <section className="card" aria-label="Account">
        <dl className="facts">
          <div>
            <dt>{account.name}</dt>
            <dd>{account.number}</dd>
          </div>
          <div>
            <dt>Balance</dt>
            <dd>{formatPrice(getBalance(session.user.sub))}</dd>
          </div>
          <div>
            <dt>Access token for the bank</dt>
            <dd>{token ? `expires ${formatMinute(token.expiresAt)}` : 'none yet'}</dd>
          </div>
        </dl>
      </section>
      <TransferForm initial={initial} hasPopup={!boundTokens} inboxUrl={inboxUrl} />
    </>
  )
})

/** Returns a single value of the query, or an empty string. */
function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}
