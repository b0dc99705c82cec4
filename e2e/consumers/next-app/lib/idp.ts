import { IdpClient } from 'idp-client/next'

export const idp = new IdpClient()
