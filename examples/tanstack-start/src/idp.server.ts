import { IdpClient } from 'idp-client/tanstack-start'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
