import { IdpClient } from 'idp-client/nuxt'
import { addProxy, options } from '../../support/contract.mjs'

export const idp = new IdpClient(options)
addProxy(idp)
