import { idp } from '@/lib/idp'
import { saveTheme } from './actions'

export default idp.withPageAuthRequired(async function Settings() {
  const session = await idp.getSession()
  return (
    <form action={saveTheme}>
      <input name="theme" defaultValue={String(session?.theme)} />
      <button type="submit">Save</button>
    </form>
  )
})
