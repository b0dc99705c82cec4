import type { Metadata } from 'next'
import { Suspense } from 'react'
import { Code } from '../../components/code'
import { Loading } from '../../components/loading'
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

const files = ['app/orders/page.tsx', 'app/orders/browser-orders.tsx', 'proxy.ts', 'api-server.mjs']

export default function OrdersPage() {
  return (
    <>
      <PageHeader title="Orders" kind="Access token" code={<Code files={files} />}>
        Your orders are served by an API that knows no cookies. It accepts an access token of the provider,
        from this server or from your browser.
      </PageHeader>
      <Suspense fallback={<Loading />}>
        <Orders />
      </Suspense>
    </>
  )
}

const Orders = idp.withPageAuthRequired(
  async function Orders() {
    if (!ordersApi) return <NoApi />
    const { url } = ordersApi
    return (
      <>
        <ServerOrders url={url} />
        {boundTokens ? (
          <>
            <Transfers url={url} />
            <NotInBrowser />
          </>
        ) : (
          <BrowserOrders url={url} />
        )}
      </>
    )
  },
  { returnTo: '/orders' },
)

function NoApi() {
  return (
    <section className="card" aria-label="No API">
      <p>
        The orders API is not running. <code>npm run demo</code> starts it. To use another one, set{' '}
        <code>ORDERS_API_URL</code>.
      </p>
    </section>
  )
}

async function ServerOrders({ url }: { url: string }) {
  const result = await load(url)
  return (
    <section className="card" aria-labelledby="server-orders-title">
      <h2 id="server-orders-title">Called by the server</h2>
      <p>The access token is taken from the session and does not leave the server.</p>
      {typeof result === 'string' ? <p role="alert">{result}</p> : <OrdersTable orders={result} />}
    </section>
  )
}

/** Returns the orders, or a message for the user. */
async function load(url: string): Promise<readonly Order[] | string> {
  try {
    const { fetchWithAuth } = await idp.createFetcher({ baseUrl: url })
    return await readOrders(await fetchWithAuth('/orders', { cache: 'no-store' }))
  } catch (error) {
    return explainFailure(error)
  }
}
