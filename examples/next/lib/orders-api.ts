export interface OrdersApi {
  /** Base URL, for the server and for the browser. */
  readonly url: string
  /** What the provider calls this API. */
  readonly audience: string
  /** What the application may do there for its users. */
  readonly scope: string
}

const url = process.env['ORDERS_API_URL']

/** Null where no API was started: everything else of this application works without it. */
export const ordersApi: OrdersApi | null = url
  ? { url, audience: 'https://api.example.test/', scope: 'read:things' }
  : null
