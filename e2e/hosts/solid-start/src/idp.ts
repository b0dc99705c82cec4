import { IdpClient } from 'idp-client'
import { getRequestEvent } from 'solid-js/web'
import { addProxy, options } from '../support/contract.mjs'

export const idp = new IdpClient(options)
addProxy(idp)

/** Returns the request that the middleware serves, also while a single-flight mutation renders another page. */
export const getRequest = () => getRequestEvent().nativeEvent.req
