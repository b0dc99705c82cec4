import { auth0 } from '@/lib/auth0'
import { saveTheme } from './actions'

export default auth0.withPageAuthRequired(async function Settings() {
  const session = await auth0.getSession()
  return (
    <form action={saveTheme}>
      <input name="theme" defaultValue={String(session?.theme ?? 'light')} />
      <button type="submit">Save</button>
    </form>
  )
})
