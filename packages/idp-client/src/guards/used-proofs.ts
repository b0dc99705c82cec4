import type { ApiConfig } from '../config/config.ts'
import type { ApiEngine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import type { RequestCookies } from '../http/exchange.ts'
import { processWide } from '../lib/registry.ts'
import { UsedNames } from '../lib/used-names.ts'
import { proofLifetime } from '../oidc/dpop-proof.ts'
import type { CompleteStore } from '../session/store/complete-store.ts'

const PER_PROCESS =
  'Each process remembers used DPoP proofs for itself, so that another one accepts a proof again: use a sessionStore with once.'

const usedProofs = (): UsedNames => processWide('mark:dpop-proofs/2', () => new UsedNames())

/**
 * Takes a proof that is otherwise valid for this request, and remembers its name: in the store, if it has `once`, else in this
 * process. Returns false if an earlier request has used it. All guards of a request share the result, because an application may
 * guard all its routes, and one of them again. Throws `TOKEN_UNDECIDED`, and `SESSION_STORE_FAILED`, if that cannot be told.
 */
export async function takeProof(
  { config, sessionStore }: ApiEngine,
  { slots }: Pick<RequestCookies, 'slots'>,
  name: string,
): Promise<boolean> {
  const complete = await sessionStore?.()
  const lasting = complete?.supports('once') ? complete : undefined
  const store = lasting && config.sessionStore
  const { proofs = [] } = slots
  const used = proofs.find((each) => each.name === name && each.store === store)
  if (used) return used.isNew
  const isNew = remember(config, lasting, name)
  slots.proofs = [...proofs, { name, store, isNew }]
  return isNew
}

async function remember(config: ApiConfig, store: CompleteStore | undefined, name: string): Promise<boolean> {
  const now = config.clock()
  const expiresAt = now + proofLifetime(config)
  if (store) return store.take(`dpop.${name}`, { expiresAt })
  config.log.once(PER_PROCESS)
  const isNew = usedProofs().take(name, { expiresAt, now })
  if (isNew === undefined)
    throw new IdpError('TOKEN_UNDECIDED', {
      detail: 'Too many DPoP proofs are remembered to take another one.',
    })
  return isNew
}
