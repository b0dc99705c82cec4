export default defineEventHandler(async (event) => {
  const { session, response } = await idp.requireAuth(event)
  if (response) return response
  const body = await readBody<{ theme?: unknown }>(event)
  const theme = String(body.theme).slice(0, 20)
  await idp.updateSession({ ...session, theme }, event)
  return { theme }
})
