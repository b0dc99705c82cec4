import { IdpClient } from 'idp-client/react-router'
import { options } from '../support/contract.mjs'

export const idp = new IdpClient(options)
