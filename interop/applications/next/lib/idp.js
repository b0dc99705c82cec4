import { customClock, customFetch, IdpClient } from 'idp-client/next'
import { readOptions } from '../../settings.mjs'

export const idp = new IdpClient(await readOptions(process.env, { customClock, customFetch }))
