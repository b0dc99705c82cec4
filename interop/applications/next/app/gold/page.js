import { idp } from '../../lib/idp'

export default idp.withPageAuthRequired(
  async function Gold() {
    return <p>granted</p>
  },
  { acr: 'gold' },
)
