import { createAsync, query } from '@solidjs/router'
import { Show } from 'solid-js'
import { getRequest, idp } from '../idp'

const requireUser = query(async () => {
  'use server'
  const { response, session } = await idp.requireLogin(getRequest())
  if (response) throw response
  return { sub: session.user.sub }
}, 'requireUser')

export default function Page() {
  const user = createAsync(() => requireUser(), { deferStream: true })
  return <Show when={user()}>{(known) => <p>{`user=${known().sub}`}</p>}</Show>
}

/** Without it `[operation].ts` would respond to this path: it renders the page. */
export function GET() {}
