import { IdpClient } from 'idp-client/nuxt'
import { getRequestEvent } from 'solid-js/web'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

export function getEvent() {
  const event = getRequestEvent()
  if (!event) throw new Error('getEvent() was called outside a request')
  return event.nativeEvent
}
