import { IdpClient } from 'idp-client/next'

const idp = new IdpClient()

export const handle = (request) => idp.middleware(request)
export const getSession = () => idp.getSession()
