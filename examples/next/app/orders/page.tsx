import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import { boundTokens } from '../../lib/bound-tokens'
import type { Order } from '../../lib/orders'
import { readOrders } from '../../lib/orders'
import { ordersApi } from '../../lib/orders-api'
import { NotInBrowser, Transfers } from './bound-orders'
import { BrowserOrders } from './browser-orders'
import { explainFailure } from './explain'
import { OrdersTable } from './orders-table'

export const metadata: Metadata = { title: 'Orders' }

export default idp.withPageAuthRequired(
  async function Orders() {
    return (
      <>
        <PageHeader title="Orders" kind="Access token" source="app/orders/page.tsx">
          Your orders live behind an API of their own, which knows no cookies. It serves whoever brings an
          access token of the provider: this server, or your browser.
        </PageHeader>
        {ordersApi ? (
          <>
            <ServerOrders url={ordersApi.url} />
            {boundTokens ? (
              <>
                <Transfers url={ordersApi.url} />
                <NotInBrowser />
              </>
            ) : (
              <BrowserOrders url={ordersApi.url} />
            )}
          </>
        ) : (
          <section className="card" aria-label="No API">
            <p>
              No orders API was started. <code>npm run demo</code> starts one; elsewhere{' '}
              <code>ORDERS_API_URL</code> says where it is.
            </p>
          </section>
        )}
      </>
    )
  },
  { returnTo: '/orders' },
)

async function ServerOrders({ url }: { url: string }) {
  const result = await load(url)
  return (
    <section className="card" aria-labelledby="server-orders-title">
      <h2 id="server-orders-title">Asked by the server</h2>
      <p>The token is taken from the session, and does not leave the server.</p>
      {typeof result === 'string' ? <p role="alert">{result}</p> : <OrdersTable orders={result} />}
    </section>
  )
}

/** The orders, or what to tell the visitor. */
async function load(url: string): Promise<readonly Order[] | string> {
  try {
    const { fetchWithAuth } = await idp.createFetcher({ baseUrl: url })
    return await readOrders(await fetchWithAuth('/orders', { cache: 'no-store' }))
  } catch (error) {
    return explainFailure(error)
  }
}
