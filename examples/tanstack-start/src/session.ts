import { createServerFn } from '@tanstack/react-start'
import { idp } from './idp.server'

export const getUser = createServerFn().handler(async () => {
  const session = await idp.getSession()
  return session && { sub: session.user.sub }
})

export const requireUser = createServerFn()
  .validator((returnTo: string) => returnTo)
  .handler(async ({ data: returnTo }) => {
    const { user, theme = 'light' } = await idp.requireLogin({ returnTo })
    return { sub: user.sub, theme: String(theme) }
  })

export const saveTheme = createServerFn({ method: 'POST' })
  .validator((form: FormData) => String(form.get('theme')).slice(0, 20))
  .handler(async ({ data: theme }) => {
    const session = await idp.requireLogin({ returnTo: '/account' })
    await idp.updateSession({ ...session, theme })
  })
