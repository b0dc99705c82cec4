import { Account } from '@/components/account'

export default function Home() {
  return <Account />
}
