import { idp } from '$lib/idp.js'
import { respond } from '../../../support/contract.mjs'

export function GET(event) {
  const set = (name, value) => event.cookies.set(name, value, { path: '/' })
  return respond(idp, { context: event, name: event.params.operation, query: event.url.searchParams, set })
}
