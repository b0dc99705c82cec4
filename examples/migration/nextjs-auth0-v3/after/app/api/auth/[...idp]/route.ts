import { idp } from '@/lib/idp'

export const { GET, POST, HEAD, OPTIONS } = idp.handlers()
