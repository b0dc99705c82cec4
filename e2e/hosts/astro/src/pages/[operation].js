import { respond } from '../../support/contract.mjs'
import { idp } from '../lib/idp.js'

export function GET(context) {
  const set = (name, value) => context.cookies.set(name, value, { path: '/' })
  return respond(idp, { context, name: context.params.operation, query: context.url.searchParams, set })
}
