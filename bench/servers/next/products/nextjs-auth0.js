import { Auth0Client } from '@auth0/nextjs-auth0/server'

const auth0 = new Auth0Client({ enableTelemetry: false })

export const handle = (request) => auth0.middleware(request)
export const getSession = () => auth0.getSession()
