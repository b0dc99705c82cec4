import { IdpClient } from 'idp-client/tanstack-start'
import { options } from '../support/contract.mjs'

export const idp = new IdpClient(options)
