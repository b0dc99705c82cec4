import { A, createAsync, useLocation } from '@solidjs/router'
import { requireUser } from '../session'

export default function Account() {
  const { pathname, search } = useLocation()
  const user = createAsync(() => requireUser(pathname + search), { deferStream: true })
  return (
    <>
      <p id="user">{user()?.sub}</p>
      <A href="/">Home</A>
    </>
  )
}
