export default idp.withApiAuthRequired(async (event) => {
  const session = await idp.getSession(event)
  return { sub: session?.user.sub, theme: session?.theme }
})
