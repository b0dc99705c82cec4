import { fingerprint } from '../../../settings.mjs'
import { idp } from '../../lib/idp'

/** Uses a token while it renders, where no cookie can be written. */
export default idp.withPageAuthRequired(async function Rendered() {
  const { token } = await idp.getAccessToken()
  return <p>{`token=${fingerprint(token)}`}</p>
})
