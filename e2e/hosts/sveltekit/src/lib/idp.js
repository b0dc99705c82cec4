import { IdpClient } from 'idp-client/sveltekit'
import { addProxy, options } from '../../support/contract.mjs'

export const idp = new IdpClient(options)
addProxy(idp)
