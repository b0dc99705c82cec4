import { createFileRoute, Link, useRouter } from '@tanstack/react-router'
import { useServerFn } from '@tanstack/react-start'
import { requireUser, saveTheme } from '../session'

export const Route = createFileRoute('/account')({
  beforeLoad: async ({ location }) => ({ user: await requireUser({ data: location.href }) }),
  component: Account,
})

function Account() {
  const { user } = Route.useRouteContext()
  const router = useRouter()
  const save = useServerFn(saveTheme)
  const submit = async (form: FormData) => {
    await save({ data: form })
    await router.invalidate()
  }
  return (
    <>
      <p id="user">{user.sub}</p>
      <p id="theme">{user.theme}</p>
      <form action={submit}>
        <label>
          Theme <input name="theme" />
        </label>
        <button type="submit">Save</button>
      </form>
      <Link to="/">Home</Link>
    </>
  )
}
