import { accessTokens } from './access-tokens.mjs'
import { certificates } from './certificates.mjs'
import { clientAuthentication } from './client-authentication.mjs'
import { doctor } from './doctor.mjs'
import { grants } from './grants.mjs'
import { manyGroups } from './groups.mjs'
import { login } from './login.mjs'
import { logout } from './logout.mjs'
import { mistakes } from './mistakes.mjs'
import { outage } from './outage.mjs'
import { refresh } from './refresh.mjs'
import { senderConstrained } from './sender-constrained.mjs'
import { signedRequests } from './signed-requests.mjs'

/**
 * Every scenario, in the order in which they run. `needs` names what not every provider offers.
 *
 * @type {{ title: string, needs?: string[], run: (context: object) => Promise<void> }[]}
 */
export const scenarios = [
  ...clientAuthentication,
  ...mistakes,
  ...doctor,
  ...senderConstrained,
  ...signedRequests,
  ...certificates,
  ...login,
  ...refresh,
  ...logout,
  ...manyGroups,
  ...grants,
  ...accessTokens,
  ...outage,
]
