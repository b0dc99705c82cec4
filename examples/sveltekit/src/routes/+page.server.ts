import type { PageServerLoad } from './$types'

export const load: PageServerLoad = ({ locals }) => ({ isSignedIn: locals.idpSession !== null })
