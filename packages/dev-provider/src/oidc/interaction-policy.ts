import type { interactionPolicy } from 'oidc-provider'
import { asksSecondStep, tookSecondStep } from '../extensions/mfa/login.ts'
import { demandMembership } from '../extensions/organizations.ts'
import type { ProviderState } from './state.ts'

/**
 * When the user has to interact. Consent is implicit, so it is required only by `prompt=consent`; an
 * `acr_values` that the session does not have leads to another login (step-up).
 */
export function createPolicy(state: ProviderState): interactionPolicy.DefaultPolicy {
  const { base, Check, Prompt } = state.oidc.interactionPolicy
  const policy = base()
  policy.remove('consent')
  policy.get('login')?.checks.add(
    new Check('acr_values', 'another level of authentication was requested', ({ oidc }) => {
      const wanted = oidc.params?.['acr_values']
      if (typeof wanted !== 'string' || !oidc.session?.accountId || oidc.result?.login) {
        return Check.NO_NEED_TO_PROMPT
      }
      const reached = oidc.session.acr
      return reached !== undefined && wanted.split(' ').includes(reached)
        ? Check.NO_NEED_TO_PROMPT
        : Check.REQUEST_PROMPT
    }),
  )
  policy.get('login')?.checks.add(
    new Check('second_step', 'a second step was requested', ({ oidc }) => {
      const { params = {}, result, session } = oidc
      const signedIn = session?.accountId !== undefined && !result?.login
      return signedIn && asksSecondStep(state, params) && !tookSecondStep(state, session)
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT
    }),
  )
  for (const name of ['consent', 'select_account', 'create']) {
    policy.add(new Prompt({ name, requestable: true }))
  }
  // The last check: it rejects only users who have passed all others, so that another user can still sign in.
  policy.add(
    new Prompt(
      { name: 'organization' },
      new Check('membership', 'membership of the organization', (ctx) => {
        demandMembership(state, ctx)
        return Check.NO_NEED_TO_PROMPT
      }),
    ),
  )
  return policy
}
