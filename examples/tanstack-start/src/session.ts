import { createServerFn } from '@tanstack/react-start'
import { idp } from './idp.server'

export const getUser = createServerFn().handler(async () => {
  const session = await idp.getSession()
  return session && { sub: session.user.sub }
})

export const requireUser = createServerFn()
  .validator((returnTo: string) => returnTo)
  .handler(async ({ data: returnTo }) => {
    const { user } = await idp.requireLogin({ returnTo })
    return { sub: user.sub }
  })
