import { A, createAsync } from '@solidjs/router'
import { Show } from 'solid-js'
import { getUser } from '../session'

export default function Home() {
  const user = createAsync(() => getUser())
  return (
    <>
      <p>{user() ? 'Signed in' : 'Signed out'}</p>
      <A href="/account">Account</A>{' '}
      <Show when={user()} fallback={<a href="/auth/login">Log in</a>}>
        <a href="/auth/logout">Log out</a>
      </Show>
    </>
  )
}
