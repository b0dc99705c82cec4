import 'server-only'
import { IdpClient } from 'idp-client'
import { getRequestEvent } from 'solid-js/web'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

export function getRequest() {
  const event = getRequestEvent()
  if (!event) throw new Error('getRequest() was called outside a request')
  return event.nativeEvent.req
}
