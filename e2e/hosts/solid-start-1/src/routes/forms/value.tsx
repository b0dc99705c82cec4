import { action, createAsync, query, redirect } from '@solidjs/router'
import { idp } from '../../idp'

const getValue = query(async () => {
  'use server'
  const session = await idp.getSession()
  return `value=${session?.value}`
}, 'value')

const update = action(async (form: FormData) => {
  'use server'
  const session = await idp.getSession()
  await idp.updateSession({ ...session, value: form.get('value') })
  if (form.has('redirect')) throw redirect('/forms/value')
  return 'updated'
}, 'update')

export const route = { preload: () => getValue() }

export default function Value() {
  const value = createAsync(() => getValue(), { deferStream: true })
  return (
    <form action={update} method="post" enctype="multipart/form-data">
      <p>{value()}</p>
    </form>
  )
}
