import type { ProviderState } from '../oidc/state.ts'
import type { Call } from '../wire/message.ts'
import { parseForm } from '../wire/message.ts'

/**
 * Providers whose refresh tokens follow the single sign-on session (Keycloak) put the latest authentication of that
 * session into refreshed ID tokens. oidc-provider copies the time of the refresh token, so that is moved before.
 */
export async function moveAuthTime(state: ProviderState, call: Call): Promise<void> {
  const form = parseForm(call)
  const id = form.get('grant_type') === 'refresh_token' ? form.get('refresh_token') : null
  const token = id === null ? undefined : state.store.find('RefreshToken', id)
  if (id === null || !token) return
  const session = state.store.list('Session').find(({ uid }) => uid === token['sessionUid'])
  const authTime = session?.['loginTs']
  if (typeof authTime !== 'number') return
  await state.store.adapter('RefreshToken').upsert(id, { ...token, authTime }, 0)
}
