'use client'

import { isIdpError } from 'idp-client/errors'
import { getAccessToken } from 'idp-client/react'
import { useState } from 'react'
import type { Order } from '../../lib/orders'
import { fetchOrders } from '../../lib/orders'
import { OrdersTable } from './orders-table'

export function BrowserOrders({ url }: { url: string }) {
  const [orders, setOrders] = useState<readonly Order[] | null>(null)
  const [message, setMessage] = useState('')

  async function load() {
    setMessage('Loading…')
    try {
      // Cached in memory until shortly before it expires; concurrent calls share one request.
      const token = await getAccessToken()
      setOrders(await fetchOrders(url, token))
      setMessage('Loaded by your browser.')
    } catch (error) {
      setMessage(explain(error))
    }
  }

  return (
    <section className="card" aria-labelledby="browser-orders-title">
      <h2 id="browser-orders-title">Called by the browser</h2>
      <p>
        Your browser gets the access token from this application and calls the API itself.{' '}
        <code>enableAccessTokenEndpoint: false</code> disables that.
      </p>
      <p className="actions">
        <button className="button" type="button" onClick={load}>
          Load the orders
        </button>
        <span role="status">{message}</span>
      </p>
      {orders ? <OrdersTable orders={orders} /> : null}
    </section>
  )
}

function explain(error: unknown): string {
  if (isIdpError(error, 'MISSING_SESSION')) return 'You are signed out. Log in and try again.'
  if (isIdpError(error) || error instanceof Error) return error.message
  return 'Something went wrong. Try again.'
}
