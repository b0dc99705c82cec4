import { IdpClient } from 'idp-client/sveltekit'
import { options } from '../../support/contract.mjs'

export const idp = new IdpClient(options)
