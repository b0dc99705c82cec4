import { createFileRoute } from '@tanstack/react-router'
import { idp } from '../../idp.server'

export const Route = createFileRoute('/api/me')({
  server: {
    handlers: {
      GET: async () => {
        const { user } = await idp.requireAuth()
        return Response.json({ sub: user.sub })
      },
    },
  },
})
