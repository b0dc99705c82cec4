import { idp } from '$lib/idp.js'

export async function load(event) {
  const { user } = await idp.requireLogin(event)
  return { sub: user.sub }
}
