import { getSession, withPageAuthRequired } from '@auth0/nextjs-auth0'
import { saveTheme } from './actions'

export default withPageAuthRequired(
  async function Settings() {
    const session = await getSession()
    return (
      <form action={saveTheme}>
        <input name="theme" defaultValue={session?.user.theme ?? session?.theme} />
        <button type="submit">Save</button>
      </form>
    )
  },
  { returnTo: '/settings' },
)
