import { idp } from '../idp.server.js'

export async function loader(args) {
  const { user } = await idp.requireLogin(args)
  return { sub: user.sub }
}

export default function Page({ loaderData: { sub } }) {
  return <p>{`user=${sub}`}</p>
}
