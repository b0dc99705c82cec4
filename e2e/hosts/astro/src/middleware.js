import { sequence } from 'astro:middleware'
import { checkOrigin } from 'idp-client/astro'
import { idp } from './lib/idp.js'

export const onRequest = sequence(idp.onRequest, checkOrigin())
