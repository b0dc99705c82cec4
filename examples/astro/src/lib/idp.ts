import { IdpClient } from 'idp-client/astro'

export const idp = new IdpClient()
