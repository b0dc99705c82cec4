import { idp } from './lib/idp'

export const onRequest = idp.onRequest
