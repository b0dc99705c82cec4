import { idp } from '../utils/idp.js'

export default defineEventHandler(async (event) => {
  if (getRequestURL(event).pathname !== '/page') return
  const { response, session } = await idp.requireLogin(event)
  event.context.user = session?.user
  return response
})
