import { IdpClient } from 'idp-client/sveltekit'

export const idp = new IdpClient({ allowInsecureRequests: import.meta.env.DEV })
