import { IdpClient } from 'idp-client/sveltekit'
import { dev } from '$app/environment'

export const idp = new IdpClient({ allowInsecureRequests: dev })
