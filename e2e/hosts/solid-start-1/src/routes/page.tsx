import { createAsync, query } from '@solidjs/router'
import { Show } from 'solid-js'
import { getEvent, idp } from '../idp'

const requireUser = query(async () => {
  'use server'
  const { response, session } = await idp.requireLogin(getEvent())
  if (response) throw response
  return { sub: session.user.sub }
}, 'requireUser')

export default function Page() {
  const user = createAsync(() => requireUser(), { deferStream: true })
  return <Show when={user()}>{(known) => <p>{`user=${known().sub}`}</p>}</Show>
}
