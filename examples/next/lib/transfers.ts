import { idp } from './auth'
import { OrdersError } from './orders'

export interface Transfer {
  readonly id: string
  /** Display name of the recipient. */
  readonly to: string
  readonly cents: number
  /** `2026-11-08` */
  readonly made: string
}

export interface TransfersResponse {
  readonly transfers: readonly Transfer[]
  /** Number of requests: two if the API rejected the first proof and sent a nonce. */
  readonly requests: number
}

/** Fetches the transfers of the signed-in user. The API accepts only tokens that are bound to a key. */
export async function fetchTransfers(url: string): Promise<TransfersResponse> {
  let requests = 0
  const counting: typeof fetch = (input, init) => {
    requests += 1
    return fetch(input, init)
  }
  const { fetchWithAuth } = await idp.createFetcher({ baseUrl: url, fetch: counting })
  const response = await fetchWithAuth('/transfers', { cache: 'no-store' })
  if (!response.ok) throw new OrdersError(`The orders API responded with status ${response.status}.`)
  const { transfers } = (await response.json()) as { transfers: readonly Transfer[] }
  return { transfers, requests }
}
