export const dynamic = 'force-dynamic'

export default function Page() {
  return <h1>Signed in as nobody</h1>
}
