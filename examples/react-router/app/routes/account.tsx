import { Form, Link } from 'react-router'
import { idp } from '../idp.server'
import type { Route } from './+types/account'

export async function loader(args: Route.LoaderArgs) {
  const { user, theme = 'light' } = await idp.requireLogin(args)
  return { sub: user.sub, theme: String(theme) }
}

export async function action(args: Route.ActionArgs) {
  const session = await idp.requireLogin(args)
  const form = await args.request.formData()
  await idp.updateSession({ ...session, theme: String(form.get('theme')).slice(0, 20) })
  return null
}

export default function Account({ loaderData: { sub, theme } }: Route.ComponentProps) {
  return (
    <>
      <p id="user">{sub}</p>
      <p id="theme">{theme}</p>
      <Form method="post">
        <label>
          Theme <input name="theme" />
        </label>
        <button type="submit">Save</button>
      </Form>
      <Link to="/">Home</Link>
    </>
  )
}
