import { idp } from './auth'
import { OrdersError } from './orders'

export interface Transfer {
  readonly id: string
  /** Display name of who got it. */
  readonly to: string
  readonly cents: number
  /** `2026-11-08` */
  readonly made: string
}

export interface TransfersAnswer {
  readonly transfers: readonly Transfer[]
  /** How often the API was asked until it answered: twice where it sent the first proof back with a nonce. */
  readonly requests: number
}

/** The transfers of the user who is signed in. The API hands them out for tokens that are bound to a key, no others. */
export async function fetchTransfers(url: string): Promise<TransfersAnswer> {
  let requests = 0
  const counting: typeof fetch = (input, init) => {
    requests += 1
    return fetch(input, init)
  }
  const { fetchWithAuth } = await idp.createFetcher({ baseUrl: url, fetch: counting })
  const response = await fetchWithAuth('/transfers', { cache: 'no-store' })
  if (!response.ok) throw new OrdersError(`The orders API answered with status ${response.status}.`)
  const { transfers } = (await response.json()) as { transfers: readonly Transfer[] }
  return { transfers, requests }
}
