export interface Order {
  readonly id: string
  readonly item: string
  readonly quantity: number
  readonly cents: number
  /** `2026-11-08` */
  readonly placed: string
}

/** Fetches the orders of the user for whom the access token was issued. */
export async function fetchOrders(url: string, token: string): Promise<readonly Order[]> {
  const headers = { authorization: `Bearer ${token}` }
  return readOrders(await fetch(new URL('/orders', url), { headers, cache: 'no-store' }))
}

export async function readOrders(response: Response): Promise<readonly Order[]> {
  if (!response.ok) throw new OrdersError(`The orders API responded with status ${response.status}.`)
  const { orders } = (await response.json()) as { orders: readonly Order[] }
  return orders
}

export class OrdersError extends Error {
  override readonly name = 'OrdersError'
}
