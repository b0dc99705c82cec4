export default defineEventHandler(async (event) => {
  const { session, response } = await idp.requireAuth(event)
  if (response) return response
  const { theme } = await readBody<{ theme: string }>(event)
  await idp.updateSession({ ...session, theme }, event)
  return { theme }
})
