import { idp } from '../idp.server'
import type { Route } from './+types/api.me'

export async function loader(args: Route.LoaderArgs) {
  const { user } = await idp.requireAuth(args)
  return Response.json({ sub: user.sub })
}
