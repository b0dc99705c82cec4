import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { account, bank } from '../../lib/bank'
import { boundTokens } from '../../lib/bound-tokens'
import { formatMinute, formatPrice } from '../../lib/format'
import { TransferForm } from './transfer-form'

export const metadata: Metadata = { title: 'Transfer money' }

interface Props {
  readonly searchParams: Promise<Readonly<Record<string, string | readonly string[] | undefined>>>
}

export default idp.withPageAuthRequired(async function TransferPage({ searchParams }: Props) {
  const session = await idp.getSession()
  const { payee, amount, way } = await searchParams
  const token = session?.accessTokens?.find(({ audience }) => audience === bank.audience)
  const filledIn = { payee: text(payee), amount: text(amount), way: text(way) }
  return (
    <>
      <PageHeader title="Transfer money" kind="Second factor" source="app/transfer/page.tsx">
        The bank serves those only who proved lately, by something beyond the password, that it is them. There
        is more than one way to do that.
      </PageHeader>
      <section className="card" aria-label="Account">
        <dl className="facts">
          <div>
            <dt>{account.name}</dt>
            <dd>{account.number}</dd>
          </div>
          <div>
            <dt>Balance</dt>
            <dd>{formatPrice(account.cents)}</dd>
          </div>
          <div>
            <dt>Bank token expires</dt>
            <dd>{token ? formatMinute(token.expiresAt) : 'no token yet'}</dd>
          </div>
        </dl>
      </section>
      <TransferForm filledIn={filledIn} hasPopup={!boundTokens} />
    </>
  )
})

/** One value of the query; whatever else stands there is left out. */
function text(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}
