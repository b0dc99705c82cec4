import { idp } from '$lib/server/idp'

export const handle = idp.handle
