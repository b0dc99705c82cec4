export const dynamic = 'force-dynamic'

export default function Page() {
  return <h1>Not signed in</h1>
}
