import 'server-only'
import { IdpClient } from 'idp-client'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
