import { formatDate, formatPrice } from '../../lib/format'
import type { Transfer, TransfersResponse } from '../../lib/transfers'
import { fetchTransfers } from '../../lib/transfers'
import { explainFailure } from './explain'

/** Replaces the part for the browser when tokens are bound to a key that only the server has. */
export function NotInBrowser() {
  return (
    <section className="card" aria-labelledby="browser-orders-title">
      <h2 id="browser-orders-title">Called by the browser</h2>
      <p>
        Not possible with this token: it is bound to a key of the server. Bound tokens stay on the server, so
        the route that returns access tokens to the browser is disabled.
      </p>
    </section>
  )
}

export async function Transfers({ url }: { url: string }) {
  const result = await load(url)
  return (
    <section className="card" aria-labelledby="transfers-title">
      <h2 id="transfers-title">Transfers</h2>
      <p>The API accepts bound tokens only, with a proof of the key in each request (DPoP).</p>
      {typeof result === 'string' ? <p role="alert">{result}</p> : <TransferList {...result} />}
    </section>
  )
}

async function load(url: string): Promise<TransfersResponse | string> {
  try {
    return await fetchTransfers(url)
  } catch (error) {
    return explainFailure(error)
  }
}

function TransferList({ requests, transfers }: TransfersResponse) {
  return (
    <>
      <p>
        {requests === 1
          ? 'One request: the proof contained the nonce that the API had sent before.'
          : 'Two requests: the API rejected the first proof and sent a nonce for the second one.'}
      </p>
      {transfers.length === 0 ? <p>No transfers yet.</p> : <TransfersTable transfers={transfers} />}
    </>
  )
}

function TransfersTable({ transfers }: { transfers: readonly Transfer[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Transfer</th>
          <th scope="col">Made</th>
          <th scope="col">To</th>
          <th scope="col">Amount</th>
        </tr>
      </thead>
      <tbody>
        {transfers.map(({ id, to, cents, made }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td data-label="Made">{formatDate(made)}</td>
            <td data-label="To">{to}</td>
            <td data-label="Amount">{formatPrice(cents)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
