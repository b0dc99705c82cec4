import { IdpClient } from 'idp-client/react-router'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
