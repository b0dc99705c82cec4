import { isIdpError } from 'idp-client/next'
import type { Metadata } from 'next'
import { PageHeader } from '../../components/page-header'
import { idp } from '../../lib/auth'
import type { Order } from '../../lib/orders'
import { fetchOrders, OrdersError } from '../../lib/orders'
import { ordersApi } from '../../lib/orders-api'
import { BrowserOrders } from './browser-orders'
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
            <BrowserOrders url={ordersApi.url} />
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
    const { token } = await idp.getAccessToken()
    return await fetchOrders(url, token)
  } catch (error) {
    if (isIdpError(error) && error.name === 'AccessTokenError') return explain(error.code)
    if (error instanceof OrdersError) return error.message
    if (error instanceof TypeError) return 'The orders API cannot be reached.'
    // What Next throws to steer a render has to pass.
    throw error
  }
}

function explain(code: string): string {
  return code === 'MISSING_REFRESH_TOKEN'
    ? 'Your access has expired. Log out and log in again.'
    : 'The provider gives no access right now. Try again in a moment.'
}
