import { A, createAsync, useLocation } from '@solidjs/router'
import { requireUser, saveTheme } from '../session'

export default function Account() {
  const { pathname, search } = useLocation()
  const user = createAsync(() => requireUser(pathname + search), { deferStream: true })
  return (
    <>
      <p id="user">{user()?.sub}</p>
      <p id="theme">{user()?.theme}</p>
      <form action={saveTheme} method="post">
        <label>
          Theme <input name="theme" />
        </label>
        <button type="submit">Save</button>
      </form>
      <A href="/">Home</A>
    </>
  )
}
