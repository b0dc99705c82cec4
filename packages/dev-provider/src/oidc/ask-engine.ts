import type { Answer, Call } from '../wire/message.ts'
import { capture } from '../wire/message.ts'
import type { ProviderState } from './state.ts'

/** oidc-provider's answer to a call. */
export function engineAnswer(state: ProviderState, call: Call): Promise<Answer> {
  return capture(state.engine.callback(), call, state.mountPath)
}
