import { IdpClient } from 'idp-client/nuxt'
import { options } from '../../support/contract.mjs'

export const idp = new IdpClient(options)
