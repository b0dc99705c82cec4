import { IdpClient } from 'idp-client/nuxt'

export const idp = new IdpClient({ allowInsecureRequests: import.meta.dev })
