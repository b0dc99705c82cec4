export interface OrdersApi {
  /** Base URL, for the server and for the browser. */
  readonly url: string
  /** Identifier of this API at the provider. */
  readonly audience: string
  /** Permissions that the application requests. */
  readonly scope: string
}

const url = process.env['ORDERS_API_URL']

/** Null if no API is running; everything else works without it. */
export const ordersApi: OrdersApi | null = url
  ? { url, audience: 'https://api.example.test/', scope: 'read:things' }
  : null
