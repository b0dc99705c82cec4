import { tokensOnly, toShared } from '../../support/contract.mjs'
import { idp } from '../lib/idp.js'

export const GET = idp.requireAuth(({ locals }) => Response.json(toShared(locals.idpAuth)), tokensOnly(idp))
