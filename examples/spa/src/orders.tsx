import { fetchApi } from 'idp-client/react'
import type { FormEvent } from 'react'
import { useEffect, useState } from 'react'
import { Receipt } from './receipt'
import { Ticks } from './ticks'

export interface Order {
  readonly id: string
  readonly item: string
  /** Size of the receipt in bytes. */
  readonly receipt: number
}

/** Returns the content of a response. */
async function read<Content>(response: Response): Promise<Content> {
  const content = await response.json()
  if (!response.ok) throw new Error(content.description ?? `The API responded with ${response.status}.`)
  return content
}

const load = async () => read<{ orders: Order[] }>(await fetchApi('/api/orders'))

async function create(item: string): Promise<Order> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ item })
  return read(await fetchApi('/api/orders', { method: 'POST', headers, body }))
}

export function Orders() {
  const [orders, setOrders] = useState<Order[]>([])
  const [problem, setProblem] = useState('')

  useEffect(() => {
    load().then(
      ({ orders }) => setOrders(orders),
      ({ message }: Error) => setProblem(message),
    )
  }, [])

  const replace = (order: Order) =>
    setOrders((all) => all.map((other) => (other.id === order.id ? order : other)))

  async function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    setProblem('')
    try {
      const order = await create(String(new FormData(form).get('item')))
      setOrders((all) => [...all, order])
      form.reset()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The order was not accepted.')
    }
  }

  return (
    <>
      <Ticks />
      {problem && <p role="alert">{problem}</p>}
      <table>
        <thead>
          <tr>
            <th scope="col">Order</th>
            <th scope="col">Item</th>
            <th scope="col">Receipt</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((order) => (
            <tr key={order.id}>
              <th scope="row">{order.id}</th>
              <td>{order.item}</td>
              <td>
                <Receipt order={order} onUploaded={replace} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <form onSubmit={onSubmit}>
        <label>
          Item <input name="item" required maxLength={80} />
        </label>
        <button type="submit">Order</button>
      </form>
    </>
  )
}
