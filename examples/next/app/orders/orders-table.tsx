import { formatDate, formatPrice } from '../../lib/format'
import type { Order } from '../../lib/orders'

export function OrdersTable({ orders }: { orders: readonly Order[] }) {
  if (orders.length === 0) return <p>No orders yet.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Order</th>
          <th scope="col">Placed</th>
          <th scope="col">Item</th>
          <th scope="col">Quantity</th>
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        {orders.map(({ id, item, quantity, cents, placed }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td data-label="Placed">{formatDate(placed)}</td>
            <td data-label="Item">{item}</td>
            <td data-label="Quantity">{quantity}</td>
            <td data-label="Total">{formatPrice(cents)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
