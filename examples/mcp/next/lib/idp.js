import { IdpClient } from 'idp-client/next'
import { describeApi } from '../../people.mjs'

// The build loads this module without variables.
const { APP_BASE_URL = 'https://app.example.com', NODE_ENV } = process.env

export const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production' })
export const people = idp.resource(describeApi(APP_BASE_URL))
