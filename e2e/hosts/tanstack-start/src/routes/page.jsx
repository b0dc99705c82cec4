import { createFileRoute } from '@tanstack/react-router'
import { createServerFn } from '@tanstack/react-start'
import { idp } from '../idp.server'

const requireUser = createServerFn().handler(async () => {
  const { user } = await idp.requireLogin()
  return { sub: user.sub }
})

export const Route = createFileRoute('/page')({ loader: () => requireUser(), component: Page })

function Page() {
  const { sub } = Route.useLoaderData()
  return <p>{`user=${sub}`}</p>
}
