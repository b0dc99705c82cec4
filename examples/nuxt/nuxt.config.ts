export default defineNuxtConfig({
  compatibilityDate: '2026-01-01',
  modules: ['idp-client/nuxt/module'],
  routeRules: { '/about': { swr: true }, '/terms': { prerender: true } },
})
