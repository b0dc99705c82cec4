import { IdpClient } from 'idp-client/nuxt'

export const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

export default idp.plugin
