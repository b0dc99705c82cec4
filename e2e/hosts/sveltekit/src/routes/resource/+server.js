import { idp } from '$lib/idp.js'
import { tokensOnly, toShared } from '../../../support/contract.mjs'

export const GET = idp.requireAuth(({ locals }) => Response.json(toShared(locals.idpAuth)), tokensOnly(idp))
