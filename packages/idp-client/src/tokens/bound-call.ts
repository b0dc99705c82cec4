import { IdpError } from '../errors/base.ts'
import type { ApiCall } from '../http/api-call.ts'
import { pause } from '../lib/pause.ts'

/** What knows the protocol, given by the flow: proofs for one address, with the nonces of its origin. */
export interface Possession {
  /** A fresh proof; no two requests may share one. */
  prove(request: { method: string; url: URL; accessToken: string }): Promise<string>
  /** Remembers the nonce of an answer; true when the answer asks for a proof with it. */
  learn(url: URL, answer: Response): boolean
  /** Whether an answer asks for a nonce, be there one or not. */
  asksForNonce(answer: Response): boolean
  /** Milliseconds. */
  retryDelay(): number
}

/**
 * Nothing of it is read, and its connection is free again. Not waited for: one half of an answer that a host shares
 * between callers is cancelled only when the other half is.
 */
function discard(answer: Response): void {
  answer.body?.cancel().catch(() => undefined)
}

function refuse(answer: Response, code: 'FETCHER_NONCE_REFUSED' | 'FETCHER_BODY_GONE'): never {
  discard(answer)
  throw new IdpError(code)
}

/**
 * Sends a call with a token that is bound to the client's key (RFC 9449 section 7), and once more if the API wants a
 * nonce in the proof. What belongs to the call stays in the call: only nonces are shared with others.
 */
export async function sendBound(
  call: ApiCall,
  accessToken: string,
  possession: Possession,
): Promise<Response> {
  const { method, signal, url } = call
  const repetition = call.prepareRepetition()

  async function send(init?: RequestInit): Promise<Response> {
    const dpop = await possession.prove({ method, url, accessToken })
    return call.send({ authorization: `DPoP ${accessToken}`, dpop }, init)
  }

  const first = await send()
  if (!possession.learn(url, first)) {
    if (possession.asksForNonce(first)) return refuse(first, 'FETCHER_NONCE_REFUSED')
    return first
  }
  const init = await repetition()
  if (!init) return refuse(first, 'FETCHER_BODY_GONE')
  discard(first)
  await pause(possession.retryDelay(), signal)
  signal?.throwIfAborted()
  // Other calls may have learnt others meanwhile, and a nonce may be good for one proof only.
  possession.learn(url, first)
  const second = await send(init)
  possession.learn(url, second)
  if (possession.asksForNonce(second)) return refuse(second, 'FETCHER_NONCE_REFUSED')
  return second
}
