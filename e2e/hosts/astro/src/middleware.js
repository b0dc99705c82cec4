/** The middleware of the application, behind that of the integration. */
export const onRequest = (context, next) =>
  context.url.pathname.endsWith('/api') ? next('/guarded-api') : next()
