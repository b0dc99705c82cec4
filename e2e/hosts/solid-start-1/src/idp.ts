import { IdpClient } from 'idp-client/nuxt'
import { getRequestEvent } from 'solid-js/web'
import { addProxy, options } from '../support/contract.mjs'

export const idp = new IdpClient(options)
addProxy(idp)

/** Returns the event of the current request, also while a single-flight mutation renders another page. */
export const getEvent = () => getRequestEvent().nativeEvent
