import { respond } from '../../../operations.mjs'
import { idp } from '../../lib/idp'

export const GET = (request) => respond(idp, request)
