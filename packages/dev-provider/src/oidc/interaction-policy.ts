import type { interactionPolicy } from 'oidc-provider'

type Policy = typeof interactionPolicy

/**
 * When a person is asked something. Consent is implicit, so it is asked for only by `prompt=consent`; an
 * `acr_values` that the session does not have leads to another login (step-up).
 */
export function createPolicy({ base, Check, Prompt }: Policy): interactionPolicy.DefaultPolicy {
  const policy = base()
  policy.remove('consent')
  policy.get('login')?.checks.add(
    new Check('acr_values', 'another level of authentication was asked for', ({ oidc }) => {
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
  for (const name of ['consent', 'select_account', 'create']) {
    policy.add(new Prompt({ name, requestable: true }))
  }
  return policy
}
