import { idp } from '../utils/idp.js'

// As the guide prints it.
export default defineEventHandler(async (event) => {
  if (!event.path.toLowerCase().startsWith('/account')) return
  const { response } = await idp.requireLogin(event, { maxAge: 3600 })
  return response
})
