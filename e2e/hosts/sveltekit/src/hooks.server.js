import { sequence } from '@sveltejs/kit/hooks'
import { checkOrigin } from 'idp-client/sveltekit'
import { idp } from '$lib/idp.js'

export const handle = sequence(idp.handle, checkOrigin())
