export interface Order {
  readonly id: string
  readonly item: string
  readonly quantity: number
  readonly cents: number
  /** `2026-11-08` */
  readonly placed: string
}

/** The orders of whoever the token was issued for; works on the server and in the browser. */
export async function fetchOrders(url: string, token: string): Promise<readonly Order[]> {
  const response = await fetch(new URL('/orders', url), {
    headers: { authorization: `Bearer ${token}` },
    cache: 'no-store',
  })
  if (!response.ok) throw new OrdersError(`The orders API answered with status ${response.status}.`)
  const { orders } = (await response.json()) as { orders: readonly Order[] }
  return orders
}

export class OrdersError extends Error {
  override readonly name = 'OrdersError'
}
