import { IdpClient } from 'idp-client/astro'
import { options } from '../../support/contract.mjs'

export const idp = new IdpClient(options)
