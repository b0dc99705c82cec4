export default defineNuxtRouteMiddleware(async (to) => {
  const user = await useRequestFetch()<unknown>('/auth/profile').catch(() => null)
  if (user) return
  return navigateTo(`/auth/login?returnTo=${encodeURIComponent(to.fullPath)}`, { external: true })
})
