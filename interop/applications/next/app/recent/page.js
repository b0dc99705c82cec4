import { idp } from '../../lib/idp'

export default idp.withPageAuthRequired(
  async function Recent() {
    return <p>granted</p>
  },
  { maxAge: 1 },
)
