import { createApis } from '../../../../apis.mjs'
import { idp } from '../../../lib/idp'

const handlers = createApis(idp)

export const GET = (request, context) => handlers[new URL(request.url).pathname](request, context)
