import type { IncomingMessage } from 'node:http'
import type { Failure } from '../wire/failure.ts'
import type { Answer, Call } from '../wire/message.ts'
import { detach } from '../wire/message.ts'
import type { ProviderState } from './state.ts'

const failures = new WeakMap<IncomingMessage, Failure>()

/** Remembers why oidc-provider refuses a request, which its response tells only in part. */
export function noteFailure(request: IncomingMessage, failure: Failure): void {
  failures.set(request, failure)
}

/** Returns oidc-provider's answer to a call instead of sending it. */
export async function engineAnswer(state: ProviderState, call: Call): Promise<Answer> {
  const { request, response, answer } = detach(call, state.mountPath)
  await state.engine.callback()(request, response)
  const failure = failures.get(request)
  return failure ? { ...(await answer), failure } : answer
}
