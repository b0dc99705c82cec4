import { IdpClient } from 'idp-client/astro'

export const idp = new IdpClient({ allowInsecureRequests: import.meta.env.DEV })
