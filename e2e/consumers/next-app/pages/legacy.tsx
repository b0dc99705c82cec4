import type { User } from 'idp-client/next'
import { idp } from '../lib/idp'

export const getServerSideProps = idp.withPageAuthRequired()

export default function LegacyPage({ user }: { user: User }) {
  return <p>{`signed in as ${user.sub}`}</p>
}
