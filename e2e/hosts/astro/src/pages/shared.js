import { sharing, toShared } from '../../support/contract.mjs'
import { idp } from '../lib/idp.js'

export const GET = idp.requireAuth(({ locals }) => Response.json(toShared(locals.idpAuth)), sharing(idp))
export const POST = GET
